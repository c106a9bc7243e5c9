import { createNames, type JourneyDraft, requestStep, type StepDraft } from './journey-draft.ts';

interface Pair {
  readonly key?: string;
  readonly value?: string;
  readonly disabled?: boolean;
}

interface PostmanRequest {
  readonly method?: string;
  readonly header?: readonly Pair[];
  readonly url?: string | { readonly raw?: string };
  readonly body?: { readonly mode?: string; readonly raw?: string; readonly urlencoded?: readonly Pair[] };
}

interface PostmanItem {
  readonly name?: string;
  readonly item?: readonly PostmanItem[];
  readonly request?: PostmanRequest | string;
}

export interface PostmanCollection {
  readonly info: { readonly name?: string };
  readonly item: readonly PostmanItem[];
  readonly variable?: readonly Pair[];
}

/** `{{base}}/a?b`, `https://host/a` and `host/a` all mean the path. Variables keep their syntax. */
export const pathOf = (raw: string): string => {
  const rest = raw.replace(/^(https?:\/\/)?(\{\{[^{}]+\}\}|[^/?#{]*)(:\d+)?/i, '').replace(/#.*$/, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
};

const enabled = (pairs: readonly Pair[] = []): { name: string; value: string }[] =>
  pairs.flatMap(({ key, value = '', disabled }) => (key && disabled !== true ? [{ name: key, value }] : []));

const bodyOf = ({ body, header }: PostmanRequest): { body: string; headers: { name: string; value: string }[] } => {
  const headers = enabled(header);
  if (body?.mode === 'urlencoded') {
    const type = { name: 'Content-Type', value: 'application/x-www-form-urlencoded' };
    const pairs = enabled(body.urlencoded).map(({ name, value }) => `${encodeURIComponent(name)}=${value}`);
    const isTyped = headers.some(({ name }) => name.toLowerCase() === 'content-type');
    return { body: pairs.join('&'), headers: isTyped ? headers : [...headers, type] };
  }
  return { body: body?.mode === 'raw' ? (body.raw ?? '') : '', headers };
};

/** A journey of all requests of a collection; folders become groups. Scripts are left out. */
export const journeyFromPostman = ({ info, item, variable }: PostmanCollection): JourneyDraft => {
  const nameOf = createNames();
  const stepsOf = ({ name = '', item: inner, request }: PostmanItem, inside?: string): StepDraft[] => {
    const parent = inside === undefined ? {} : { inside };
    if (inner !== undefined) {
      const own = nameOf(name);
      return [{ kind: 'group', name: own, ...parent }, ...inner.flatMap((one) => stepsOf(one, own))];
    }
    if (request === undefined) return [];
    const full = typeof request === 'string' ? { url: request } : request;
    const raw = typeof full.url === 'string' ? full.url : (full.url?.raw ?? '/');
    const method = (full.method ?? 'GET').toUpperCase();
    return [requestStep({ name: nameOf(name), ...parent, method, path: pathOf(raw), ...bodyOf(full) })];
  };
  const variables = enabled(variable).filter(({ name }) => /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name));
  return {
    name: (info.name ?? 'collection').slice(0, 64),
    ...(variables.length > 0 && { variables }),
    steps: item.flatMap((one) => stepsOf(one)),
  };
};
