/** A step as it is written into a task; members with their default value are left out. */
export interface StepDraft {
  name?: string;
  kind?: string;
  inside?: string;
  method?: string;
  path?: string;
  headers?: { name: string; value: string }[];
  body?: { type: 'text'; text: string };
  checks?: { kind: string; value: string }[];
  thinkMs?: number;
}

export interface JourneyDraft {
  name: string;
  variables?: { name: string; value: string }[];
  steps: StepDraft[];
}

/** Headers that belong to a connection, to cookies or to the cache of the recording browser. */
const dropped = new Set(
  `host connection content-length cookie accept-encoding keep-alive proxy-connection upgrade-insecure-requests
  if-none-match if-modified-since te transfer-encoding upgrade`.split(/\s+/),
);

interface Pair {
  readonly name: string;
  readonly value: string;
}

/** Headers as steps have them. */
export const keptHeaders = (headers: readonly Pair[]): Pair[] =>
  headers
    .filter(({ name }) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && !dropped.has(name.toLowerCase()))
    .map(({ name, value }) => ({ name, value: value.replace(/[\r\n]+/g, ' ') }));

/** Names of steps, each once and at most 64 characters long. */
export const createNames = (): ((wanted: string) => string) => {
  const seen = new Set<string>();
  return (wanted) => {
    const base = (wanted.trim() || 'step').slice(0, 60);
    let name = base;
    for (let n = 2; seen.has(name); n++) name = `${base} ${n}`;
    seen.add(name);
    return name;
  };
};

/** A request step without the members that have their default value. */
export const requestStep = ({
  method = 'GET',
  path = '/',
  headers = [],
  body,
  ...rest
}: Omit<StepDraft, 'body'> & { body?: string }): StepDraft => ({
  ...rest,
  ...(method !== 'GET' && { method }),
  path,
  ...(headers.length > 0 && { headers: keptHeaders(headers) }),
  ...(body !== undefined && body !== '' && { body: { type: 'text' as const, text: body } }),
});
