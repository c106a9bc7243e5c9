import type { Attempt, HttpExchange, HttpRequest } from '@rushhour/protocol';

type Draft = Omit<Attempt, 'id'>;

interface CarriedParams {
  readonly host?: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly cookies: readonly { readonly name: string; readonly value: string }[];
}

/** Headers and cookies that attempts carry besides their own. */
export const carriedHeaders = ({ headers, cookies }: CarriedParams) =>
  cookies.length === 0
    ? [...headers]
    : [...headers, { name: 'Cookie', value: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }];

/** With further headers where the signature has none of that name. */
export const withHeaders = (
  { steps, ...exchange }: HttpExchange,
  { headers }: { readonly headers: HttpRequest['headers'] },
): HttpExchange => ({
  ...exchange,
  steps: steps.map(({ request, ...step }) => {
    if (request.exact === true) return { ...step, request };
    const own = new Set(request.headers.map(({ name }) => name.toLowerCase()));
    const added = headers.filter(({ name }) => !own.has(name.toLowerCase()));
    return { ...step, request: { ...request, headers: [...added, ...request.headers] } };
  }),
});

/** Attempts with the host, headers and cookies of the task where they name none themselves. */
export const addressed = (attempts: readonly Draft[], params: CarriedParams): Draft[] => {
  const { host } = params;
  const headers = [...(host === undefined ? [] : [{ name: 'Host', value: host }]), ...carriedHeaders(params)];
  if (headers.length === 0) return [...attempts];
  return attempts.map((draft) =>
    draft.exchange.protocol === 'http' ? { ...draft, exchange: withHeaders(draft.exchange, { headers }) } : draft,
  );
};
