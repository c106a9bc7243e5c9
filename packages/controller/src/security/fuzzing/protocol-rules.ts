import type { Exchange, HttpExchange } from '@rushhour/protocol';

type Request = HttpExchange['steps'][number]['request'];

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rules are about
const control = /[\x00-\x08\x0a-\x1f\x7f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const nul = /\x00/;

/** Rules of RFC 9110 and RFC 9112 whose violation a recipient must refuse, or may only pass on repaired. */
const rules: readonly { readonly text: string; readonly isBroken: (request: Request) => boolean }[] = [
  { text: 'the method is no token (RFC 9110, 9.1)', isBroken: ({ method }) => !token.test(method) },
  {
    text: 'the request target holds control characters (RFC 9112, 3.2)',
    isBroken: ({ path }) => control.test(path),
  },
  {
    text: 'a header value holds a null byte (RFC 9110, 5.5)',
    isBroken: ({ headers }) => headers.some(({ value }) => nul.test(value)),
  },
  {
    text: 'Content-Length is no number (RFC 9112, 6.3)',
    isBroken: ({ headers }) =>
      headers.some(({ name, value }) => /^content-length$/i.test(name) && !/^\d+$/.test(value.trim())),
  },
  {
    text: 'Host is no name of a host (RFC 9112, 3.2)',
    isBroken: ({ headers }) =>
      headers.some(
        ({ name, value }) =>
          /^host$/i.test(name) && !/^(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?$/i.test(value.trim()),
      ),
  },
];

/** The first rule that the requests of an exchange break and that obliges recipients to refuse them. */
export const brokenRule = (exchange: Exchange): string | undefined => {
  if (exchange.protocol !== 'http') return undefined;
  for (const { request } of exchange.steps) {
    const broken = rules.find(({ isBroken }) => isBroken(request));
    if (broken !== undefined) return broken.text;
  }
  return undefined;
};
