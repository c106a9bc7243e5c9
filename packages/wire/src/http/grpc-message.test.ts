import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type GrpcError, GrpcReader, grpcFrames, grpcStatusName } from './grpc-message.ts';

it('carries any messages in any pieces', () => {
  const run = (messages: Uint8Array[], step: number) => {
    const stream = grpcFrames(messages);
    const reader = new GrpcReader(10_000);
    const seen: Uint8Array[] = [];
    for (let at = 0; at < stream.length; at += step) {
      reader.feed(stream, at, Math.min(stream.length, at + step), (message) => seen.push(new Uint8Array(message)));
    }
    expect(seen).toEqual(messages);
    expect(reader.isBetween).toBe(true);
  };
  fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), fc.integer({ min: 1, max: 400 }), run));
});

it.each([
  ['a compressed message', [1, 0, 0, 0, 0], 'UNIMPLEMENTED'],
  ['an unknown flag', [2, 0, 0, 0, 0], 'INTERNAL'],
  ['a message over the limit', [0, 0, 1, 0, 0], 'RESOURCE_EXHAUSTED'],
])('refuses %s', (_, bytes, name) => {
  let status = 0;
  try {
    new GrpcReader(1000).feed(new Uint8Array(bytes), 0, 5, () => {});
  } catch (error) {
    status = (error as GrpcError).status;
  }
  expect(grpcStatusName(status)).toBe(name);
});
