type Named = readonly { readonly name: string; readonly value: string }[];

/** Hop-by-hop headers of HTTP/1 that are not allowed in HTTP/2. */
const ofConnections = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** HTTP/2 headers: lower-case names, each once with all its values. */
export const plainHeaders = (headers: Named): Record<string, string | string[]> => {
  const found = new Map<string, string[]>();
  for (const { name, value } of headers) {
    const key = name.trim().toLowerCase();
    if (!ofConnections.has(key)) found.set(key, [...(found.get(key) ?? []), value.trim()]);
  }
  return Object.fromEntries(
    [...found].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]),
  );
};

/** Pairs of a flat list of names and values. */
export const pairsIn = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length >> 1 }, (_, i) => [
    (raw[2 * i] as string).toLowerCase(),
    (raw[2 * i + 1] as string).trim(),
  ]);
