import { STATUS_CODES } from 'node:http';
import type { HttpServerConfig } from '@rushhour/protocol';
import type { Header } from '@rushhour/wire';
import { messagesOf } from '../../net/load/payload.ts';
import { cyclerOf } from '../../net/load/rotation.ts';
import type { Message } from '../../net/transport/transport.ts';

type ResponseConfig = HttpServerConfig['responses'][number];

/** A response in all its wire forms, built once. */
export interface Response {
  readonly status: number;
  readonly delayMs: number;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Buffer;
  readonly keptAlive: { readonly full: Message; readonly head: Message };
  readonly closing: { readonly full: Message; readonly head: Message };
}

const chunkBytes = 8192;

const chunked = (body: Buffer): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
};

/** Copies bytes into memory the transport can send from. */
export type Keep = (bytes: Uint8Array) => Message;

const formsOf = (response: ResponseConfig, body: Buffer, connection: string) => {
  const hasNoBody = response.status === 204 || response.status === 304;
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? 'Unknown'}`];
  for (const { name, value } of response.headers) lines.push(`${name}: ${value}`);
  if (!hasNoBody) lines.push(response.isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  if (connection !== '') lines.push(`Connection: ${connection}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (hasNoBody) return { head, full: head };
  return { head, full: Buffer.concat([head, response.isChunked ? chunked(body) : body]) };
};

const kept = ({ full, head }: { full: Buffer; head: Buffer }, keep: Keep) => ({ full: keep(full), head: keep(head) });

/** A configured response; with values as body it has a form for each. */
export interface ResponseForms {
  readonly weight: number;
  readonly next: () => Response;
}

export const createResponse = (response: ResponseConfig, keep: Keep): ResponseForms => ({
  weight: response.weight,
  next: cyclerOf(messagesOf(response.body).map((body) => responseWith(body, response, keep))),
});

const responseWith = (body: Buffer, response: ResponseConfig, keep: Keep): Response => {
  const { status, delayMs, headers } = response;
  return {
    status,
    delayMs,
    headers,
    body,
    keptAlive: kept(formsOf(response, body, 'keep-alive'), keep),
    closing: kept(formsOf(response, body, 'close'), keep),
  };
};

const headersOf = new WeakMap<Response, readonly Header[]>();
const perConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** For HTTP/2 and HTTP/3. The same list every time: the encoder remembers the block of a list. */
export const responseHeaders = (response: Response): readonly Header[] => {
  const known = headersOf.get(response);
  if (known !== undefined) return known;
  const own = response.headers.map(({ name, value }): Header => [name.toLowerCase(), value]);
  const hasNoBody = response.status === 204 || response.status === 304;
  const headers: Header[] = [
    [':status', String(response.status)],
    ...(hasNoBody ? [] : [['content-length', String(response.body.length)] as const]),
    ...own.filter(([name]) => !perConnection.has(name) && name !== 'content-length'),
  ];
  headersOf.set(response, headers);
  return headers;
};
