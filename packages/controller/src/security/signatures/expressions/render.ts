import type { CveSignature, SigRequest, SigResponse } from '@rushhour/contract';
import { attemptValues, type DictionaryValues } from './attempt-values.ts';
import { createExpander } from './expand.ts';
import { maxMessageBytes } from './functions.ts';
import { TemplateError } from './template-error.ts';

export interface RenderedHeader {
  readonly name: string;
  readonly value: string;
}

/** A message of the client, every placeholder replaced. Texts of heads hold one byte a character. */
export type RenderedRequest = { readonly delayMs: number; readonly waitResponse: boolean } & (
  | {
      readonly kind: 'http';
      readonly method: string;
      readonly path: string;
      readonly version: '1.0' | '1.1' | '2';
      readonly headers: readonly RenderedHeader[];
      readonly body: Buffer;
      /** Nothing is added to the headers. */
      readonly exact: boolean;
    }
  | { readonly kind: 'raw'; readonly transport: 'tcp' | 'udp'; readonly data: Buffer; readonly tls: boolean }
  | { readonly kind: 'dns'; readonly qname: string; readonly qtype: 'A' | 'AAAA' | 'TXT' | 'MX' | 'CNAME' }
);

export interface RenderedResponse {
  readonly mode: 'canned' | 'echo' | 'empty' | 'silent';
  readonly status: number;
  readonly headers: readonly RenderedHeader[];
  readonly body: Buffer;
}

export interface RenderedAttempt {
  readonly requests: readonly RenderedRequest[];
  /** One for each request. */
  readonly responses: readonly RenderedResponse[];
}

/** Where the attempt goes: what templates call Hostname, Port and so on. */
export interface RenderTarget {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export type Renderable = Pick<
  CveSignature,
  'requests' | 'responses' | 'variables' | 'payloads' | 'combine' | 'maxAttempts'
>;

export interface RenderOptions {
  readonly seed: string;
  readonly target: RenderTarget;
  readonly dictionary: DictionaryValues;
  /** Changes the value of a payload before it is put in, such as another encoding. */
  readonly encode?: (value: string) => string;
  /** Only the first so many attempts. */
  readonly limit?: number;
}

type Expand = (template: string) => Buffer;

/** Everything a signature sends and answers, deterministic by the seed. Throws a TemplateError. */
export const renderSignature = (signature: Renderable, options: RenderOptions): RenderedAttempt[] => {
  const { encode = (value: string) => value, limit = Number.POSITIVE_INFINITY } = options;
  const attempts = attemptValues(signature, options.dictionary).slice(0, limit);
  const target = targetValues(options);
  return attempts.map((values, index) => {
    const seed = `${options.seed}/${index}`;
    const payloads = [...values].map(([name, value]): [string, Buffer] => [name, Buffer.from(encode(value))]);
    const expand = createExpander({
      values: new Map([...target, ...payloads, ['interactsh-url', Buffer.from(outOfBandName(seed))]]),
      variables: signature.variables,
      seed,
    });
    const { requests, responses } = signature;
    return {
      requests: requests.map((request) => renderRequest(request, expand)),
      responses: requests.map((_, i) => renderResponse(answerTo(responses, i), expand)),
    };
  });
};

/** A name that only the server agent of the task answers for. */
const outOfBandName = (seed: string) => `${Buffer.from(seed).toString('hex').slice(-24).padStart(8, '0')}.oob.test`;

const targetValues = ({ target: { host, port, isTls } }: RenderOptions): [string, Buffer][] => {
  const scheme = isTls ? 'https' : 'http';
  const name = host.includes(':') ? `[${host}]` : host;
  const hostname = port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
  const url = `${scheme}://${hostname}`;
  const values = {
    BaseURL: url,
    RootURL: url,
    Hostname: hostname,
    Host: name,
    Port: String(port),
    Path: '',
    Scheme: scheme,
  };
  return Object.entries({ ...values, FQDN: host, File: '' }).map(([key, value]) => [key, Buffer.from(value)]);
};

const answerTo = (responses: readonly SigResponse[], index: number) =>
  responses.find(({ when, idx }) => (when?.requestIdx ?? idx) === index);

const bodyOf = (body: string | undefined, encoding: string | undefined, expand: Expand) => {
  const bytes = encoding === 'base64' ? Buffer.from(body ?? '', 'base64') : expand(body ?? '');
  if (bytes.length <= maxMessageBytes) return bytes;
  throw new TemplateError('PAYLOAD_TOO_LARGE', `a message has more than ${maxMessageBytes} bytes`);
};

const headersOf = (headers: readonly RenderedHeader[] | undefined, expand: Expand) =>
  (headers ?? []).map(({ name, value }) => ({ name: lineOf(expand(name)), value: lineOf(expand(value)) }));

/** One byte a character, so that heads may hold any byte but those that would end the line. */
const lineOf = (bytes: Buffer) => bytes.toString('latin1').replace(/\r\n|[\r\n]/g, ' ');

const renderRequest = (request: SigRequest, expand: Expand): RenderedRequest => {
  const timing = { delayMs: request.delayMs ?? 0, waitResponse: request.waitResponse ?? true };
  switch (request.kind) {
    case 'http':
      return {
        ...timing,
        kind: 'http',
        method: expand(request.method).toString('latin1'),
        path: lineOf(expand(request.path)),
        version: request.version ?? '1.1',
        headers: headersOf(request.headers, expand),
        body: bodyOf(request.body, request.bodyEncoding, expand),
        exact: request.exact ?? false,
      };
    case 'raw':
      return {
        ...timing,
        kind: 'raw',
        transport: request.transport,
        data: rawBytes(request, expand),
        tls: request.tls ?? false,
      };
    default:
      return { ...timing, kind: 'dns', qname: expand(request.qname).toString('latin1'), qtype: request.qtype ?? 'A' };
  }
};

const rawBytes = ({ data, encoding = 'text' }: { data: string; encoding?: string }, expand: Expand) => {
  if (encoding === 'hex') return Buffer.from(expand(data).toString('latin1').replace(/\s+/g, ''), 'hex');
  return bodyOf(data, encoding, expand);
};

const renderResponse = (response: SigResponse | undefined, expand: Expand): RenderedResponse => {
  if (response === undefined) return { mode: 'empty', status: 200, headers: [], body: Buffer.alloc(0) };
  const { mode, status = 200, headers, body, bodyEncoding } = response;
  return {
    mode: mode === 'synthesised' ? 'canned' : mode,
    status: Math.max(200, status),
    headers: headersOf(headers, expand),
    body: bodyOf(body, bodyEncoding, expand),
  };
};
