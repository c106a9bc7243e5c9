import type { CveSignature } from '@rushhour/contract';
import { text } from '../../lib/text.ts';

const { signatures: words } = text;
type Request = CveSignature['requests'][number];
type Response = CveSignature['responses'][number];

/** How a request travels, in one line. */
export const requestLineOf = (request: Request): string => {
  if (request.kind === 'dns') return words.dnsQuery(request.qtype ?? 'A', request.qname);
  if (request.kind === 'raw') {
    const transport = `${request.transport.toUpperCase()}${request.tls ? ' + TLS' : ''}`;
    return request.port === undefined ? transport : words.toPort(transport, request.port);
  }
  return `HTTP/${request.version ?? '1.1'}`;
};

const encoded = (encoding: string | undefined) =>
  encoding === undefined || encoding === 'text' ? '' : words.encodedAs(encoding);

const httpText = (first: string, headers: Response['headers'] = [], body = '', encoding?: string) =>
  [
    first,
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    ...(body === '' ? [] : ['', `${encoded(encoding)}${body}`]),
  ].join('\n');

/** A request as it is written; binary content stays in its encoding. */
export const requestTextOf = (request: Request): string => {
  if (request.kind === 'dns') return '';
  if (request.kind === 'raw') return `${encoded(request.encoding)}${request.data}`;
  return httpText(`${request.method} ${request.path}`, request.headers, request.body, request.bodyEncoding);
};

export const responseLineOf = ({ mode }: Response): string => words.modes[mode];

/** A response that is written in the signature; empty for those that are made during the run. */
export const responseTextOf = ({ mode, status = 200, headers, body, bodyEncoding }: Response): string =>
  mode === 'canned' || mode === 'empty' ? httpText(words.status(status), headers, body, bodyEncoding) : '';
