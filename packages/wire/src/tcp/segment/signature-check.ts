import type { Memory } from '../../bytes/memory.ts';
import type { TcpConnection } from '../connection.ts';
import type { TcpContext } from '../context.ts';
import { digestBytes, segmentDigest } from './signature.ts';

/** False for the segment being handled if its flow is signed and it has no signature, or a wrong one; these are counted. */
export const isSignatureRight = (
  context: TcpContext,
  c: TcpConnection | undefined,
  memory: Memory,
  start: number,
): boolean => {
  const { segment, key, counters } = context;
  const secret = c === undefined ? context.signatureKeyOf?.(key) : c.signatureKey;
  if (secret === undefined) return true;
  const { signatureAt: at, dataEnd: end } = segment;
  if (at < 0) {
    counters.missingSignatures++;
    return false;
  }
  const digest = segmentDigest(memory, { start, end, isOurs: false }, { keys: key, at: 0, secret });
  let difference = 0;
  for (let i = 0; i < digestBytes; i++) difference |= (digest[i] as number) ^ (memory.bytes[at + i] as number);
  if (difference !== 0) counters.badSignatures++;
  return difference === 0;
};
