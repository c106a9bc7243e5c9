import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { sendable } from '@rushhour/wire';
import { type Outgoing, type Requested, requestedOf } from './responder.ts';

/** Requests and replies of HTTP/1.1 and HTTP/2 by Node. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeReply = (ServerResponse | Http2ServerResponse) & NodeJS.WritableStream;

export const readNodeRequest = (request: NodeRequest): Requested =>
  requestedOf({
    method: request.method,
    url: request.url,
    fieldOf: (name) => (request.headers[name] === undefined ? undefined : String(request.headers[name])),
    body: request as AsyncIterable<Buffer>,
  });

export const sendNodeReply = (reply: NodeReply, { status, headers, body }: Outgoing): void => {
  if (reply.destroyed) return;
  reply.statusCode = status;
  reply.sendDate = false;
  const isShared = 'stream' in reply;
  for (const { name, values } of headers) {
    const sent = isShared ? values.flatMap((value) => sendable(name, value)?.[1] ?? []) : values;
    if (sent.length > 0) reply.setHeader(name, sent.length === 1 ? (sent[0] as string) : sent);
  }
  if (body === undefined) reply.end();
  else if (Buffer.isBuffer(body)) reply.end(body);
  else body.pipe(reply);
};
