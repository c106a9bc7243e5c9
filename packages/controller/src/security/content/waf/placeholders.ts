import type { WafValues } from '@rushhour/contract';
import type { HttpRequest } from '@rushhour/protocol';
import type { Encoded } from './encoders.ts';
import { defaultGrpc, type GrpcForm, grpcBody, grpcCallHeaders } from './grpc-call.ts';

/** A request that carries a text somewhere; the rest of it is what browsers send. */
export interface PlaceholderOptions {
  readonly basePath: string;
  readonly headers: HttpRequest['headers'];
  readonly version: HttpRequest['version'];
  readonly grpc?: GrpcForm;
}

export const defaultHeaders: HttpRequest['headers'] = [
  { name: 'User-Agent', value: 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0' },
  { name: 'Accept', value: 'text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8' },
  { name: 'Accept-Language', value: 'en-GB,en;q=0.7' },
];

type Draft = Omit<HttpRequest, 'version' | 'headers'> & Partial<Pick<HttpRequest, 'version' | 'headers'>>;
type RequestBuilder = (value: Encoded, base: string, grpc: GrpcForm) => Draft;
type Position = WafValues['wafModules']['modules'][number]['placeholders'][number];

/** What URLs cannot hold is escaped, and nothing else. */
const urlText = ({ text, isUrlSafe }: Encoded): string => (isUrlSafe ? text : encodeURIComponent(safeText(text)));
/** Half of a surrogate pair is no text. */
const safeText = (text: string): string => text.toWellFormed();
/** Header values end at a line break: it travels escaped. */
const headerText = ({ text }: Encoded): string =>
  text.replaceAll('\r', '%0d').replaceAll('\n', '%0a').replaceAll('\0', '%00');
const xmlText = ({ text }: Encoded): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\0', '');

/** A path as it is written, with its own escapes and query. */
const pathText = ({ text, isUrlSafe }: Encoded): string =>
  isUrlSafe ? text : safeText(text).replace(/[^\x21-\x7e]|#|%(?![0-9a-f]{2})/giu, encodeURIComponent);

const withBody = (path: string, contentType: string, body: string | Buffer): Draft => ({
  method: 'POST',
  path,
  headers: [{ name: 'Content-Type', value: contentType }],
  body: { data: Buffer.from(body as string).toString('base64') },
});

const boundary = '----WebKitFormBoundaryK3T8nq2VbRt0s1Lx';
const multipart = (value: Encoded) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="comment"\r\n\r\n${value.text}\r\n--${boundary}--\r\n`;

const isXml = ({ text }: Encoded) => /^\s*<(\?xml|!DOCTYPE)/i.test(text);
const xml = (value: Encoded): string =>
  isXml(value) ? value.text : `<?xml version="1.0"?><request><value>${xmlText(value)}</value></request>`;
const soap = (value: Encoded): string =>
  isXml(value)
    ? value.text
    : `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><find><name>${xmlText(value)}</name></find></soap:Body></soap:Envelope>`;

/** Stands for a place where a whole signature is played instead of a payload. */
export const signaturePlaceholder = 'signature';

/** Places by name. */
export const placeholderRequests: Readonly<Record<Position, RequestBuilder>> = {
  'url-path': (value, base) => ({ method: 'GET', path: `${base.replace(/\/$/, '')}/${urlText(value)}` }),
  'raw-path': (value, base) => ({ method: 'GET', path: `${base.replace(/\/$/, '')}/${pathText(value)}` }),
  'url-param': (value, base) => ({ method: 'GET', path: `${base}?q=${urlText(value)}` }),
  header: (value, base) => ({
    method: 'GET',
    path: base,
    headers: [{ name: 'X-Request-Info', value: headerText(value) }],
  }),
  'user-agent': (value, base) => ({
    method: 'GET',
    path: base,
    headers: [{ name: 'User-Agent', value: headerText(value) }],
  }),
  cookie: (value, base) => ({
    method: 'GET',
    path: base,
    headers: [{ name: 'Cookie', value: `session=${headerText(value).replaceAll(';', '%3b')}` }],
  }),
  authorization: (value, base) => ({
    method: 'GET',
    path: base,
    headers: [{ name: 'Authorization', value: `Bearer ${headerText(value)}` }],
  }),
  body: (value, base) => withBody(base, 'text/plain', value.text),
  form: (value, base) => withBody(base, 'application/x-www-form-urlencoded', `name=test&comment=${urlText(value)}`),
  multipart: (value, base) => withBody(base, `multipart/form-data; boundary=${boundary}`, multipart(value)),
  'json-body': (value, base) => withBody(base, 'application/json', JSON.stringify({ comment: safeText(value.text) })),
  'json-request': (value, base) =>
    withBody(base, 'application/json', JSON.stringify({ query: { filter: [safeText(value.text)], page: 1 } })),
  'json-object': (value, base) => withBody(base, 'application/json', value.text),
  'xml-body': (value, base) => withBody(base, 'application/xml', xml(value)),
  'soap-body': (value, base) => withBody(base, 'text/xml; charset=utf-8', soap(value)),
  graphql: (value, base) => {
    const query = `query { search(text: ${JSON.stringify(safeText(value.text))}) { id name } }`;
    return withBody(base, 'application/json', JSON.stringify({ query }));
  },
  'graphql-query': (value, base) => withBody(base, 'application/json', JSON.stringify({ query: safeText(value.text) })),
  grpc: (value, base, { method, messageOf }) => ({
    method: 'POST',
    path: `${base.replace(/\/$/, '')}${method}`,
    version: '2',
    headers: grpcCallHeaders,
    body: { data: grpcBody(messageOf(safeText(value.text))).toString('base64') },
  }),
  raw: (value, base) => withBody(base, 'application/octet-stream', value.text),
};

const naturalByModule: Readonly<Record<string, Position[]>> = {
  'path-traversal': ['url-path', 'url-param'],
  crlf: ['url-path', 'url-param'],
  'user-agent': ['user-agent'],
  soap: ['soap-body'],
  xxe: ['xml-body'],
  'xml-injection': ['xml-body'],
  graphql: ['graphql'],
  rest: ['json-body', 'url-path'],
  grpc: ['grpc'],
  'large-body': ['form', 'json-body'],
  'mail-injection': ['form'],
  'nosql-injection': ['json-request', 'url-param'],
  ssrf: ['url-param', 'json-body'],
  deserialization: ['form', 'cookie'],
  'broken-authentication': ['authorization'],
  'access-control': ['raw-path'],
  'mass-assignment': ['json-object'],
  'resource-consumption': ['graphql-query'],
  'exposed-resources': ['raw-path'],
};

/** Places where attacks of a module are seen in practice. */
export const naturalPlaceholders = (module: string): Position[] => naturalByModule[module] ?? ['url-param'];

/** Where a method of its own makes no sense it is left as it is; a version of its own stays. */
export const requestOf = (
  placeholder: string,
  value: Encoded,
  { basePath, headers, version, grpc = defaultGrpc }: PlaceholderOptions,
): HttpRequest | undefined => {
  const draft = placeholderRequests[placeholder as Position]?.(value, basePath, grpc);
  if (draft === undefined) return undefined;
  const own = draft.headers ?? [];
  const taken = new Set([...own, ...headers].map(({ name }) => name.toLowerCase()));
  // What browsers say of themselves is no part of a call.
  const defaults = defaultHeaders.filter(({ name }) => placeholder !== 'grpc' && !taken.has(name.toLowerCase()));
  return { version, ...draft, headers: [...defaults, ...headers, ...own] };
};
