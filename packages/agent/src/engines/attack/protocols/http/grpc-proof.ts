import { grpcFrames } from '@rushhour/wire';
import type { AnswerParts } from './http-answer.ts';
import { type HttpMessage, headerIn } from './http-reader.ts';

const contentType = { name: 'Content-Type', value: 'application/grpc' } as const;

export const isGrpc = (message: Pick<HttpMessage, 'headers'>): boolean =>
  headerIn(message, 'content-type')?.startsWith(contentType.value) === true;

/** A message without fields, which every type allows: proofs travel in the metadata of a call. */
export const emptyMessage: Buffer = Buffer.from(grpcFrames([new Uint8Array(0)]));

/** Headers of a call. */
export const grpcHeaders = [contentType, { name: 'TE', value: 'trailers' }] as const;

/** A call that went well. */
export const grpcParts: Omit<AnswerParts, 'hash'> = {
  status: 200,
  headers: [contentType],
  trailers: [{ name: 'grpc-status', value: '0' }],
  body: emptyMessage,
};
