type Named = readonly { readonly name: string; readonly value: string }[];

/** What belongs to one connection of HTTP/1 and has no place here. */
const ofConnections = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Headers as HTTP/2 has them: in lower case, each name once with all its values. */
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

/** Names and values in turn, as they came. */
export const pairsIn = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length >> 1 }, (_, i) => [
    (raw[2 * i] as string).toLowerCase(),
    (raw[2 * i + 1] as string).trim(),
  ]);
