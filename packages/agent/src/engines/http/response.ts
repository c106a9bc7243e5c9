import { STATUS_CODES } from 'node:http';
import type { HttpServerConfig } from '@rushhour/protocol';
import { payloadBytes } from '../../net/payload.ts';

type ResponseConfig = HttpServerConfig['responses'][number];

/** One answer in every form it may have to take, made once. */
export interface Response {
  readonly weight: number;
  readonly status: number;
  readonly delayMs: number;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Buffer;
  readonly keptAlive: { readonly full: Buffer; readonly head: Buffer };
  readonly closing: { readonly full: Buffer; readonly head: Buffer };
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

export const createResponse = (response: ResponseConfig): Response => {
  const body = payloadBytes(response.body);
  const { weight, status, delayMs, headers } = response;
  return {
    weight,
    status,
    delayMs,
    headers,
    body,
    keptAlive: formsOf(response, body, 'keep-alive'),
    closing: formsOf(response, body, 'close'),
  };
};
