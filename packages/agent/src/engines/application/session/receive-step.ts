import type { Round } from '../round.ts';
import { matchUnknown, patternOf } from '../unknown-values.ts';
import type { Channel, Wait } from './channel.ts';
import { describeDifference, firstDifference } from './difference.ts';

const quietMs = 100;
/** Longer steps are compared only when complete. */
const earlyBytes = 65_536;

interface ReceiveOptions {
  readonly round: Round;
  readonly session: number;
  readonly step: number;
  readonly match: 'exact' | 'length' | 'any' | 'http';
  readonly timeoutMs: number;
}

/** modified: different bytes; partial: too few bytes. */
export interface Fault {
  readonly kind: 'modified' | 'partial';
  readonly text: string;
  /** Offset of the first byte that differs. */
  readonly at: number;
}

export interface Received {
  readonly bytes: Buffer;
  readonly wait: Wait;
  readonly fault: Fault | undefined;
}

/** Waits until a step can be compared: it is complete, already differs, or nothing more arrives. */
export const awaitStep = async (channel: Channel, options: ReceiveOptions): Promise<Wait> => {
  const { round, session, step, match, timeoutMs } = options;
  const expected = round.bytes(session, step);
  const isUnknown = round.unknownIn(session, step).length > 0;
  if (match === 'any') return awaitAnything(channel, expected.length, timeoutMs);
  if (!isUnknown && (match === 'length' || expected.length > earlyBytes)) {
    return channel.wait(expected.length, timeoutMs);
  }
  const deadline = performance.now() + timeoutMs;
  for (let wait: Wait = 'arrived', length = 0; ; length = channel.length) {
    if (length > 0 || channel.length > 0) {
      const arrived = channel.peek();
      const isOver = isUnknown
        ? matchUnknown(round, session, step, arrived) !== undefined
        : arrived.length >= expected.length || !isPrefix(arrived, expected);
      if (isOver || wait !== 'arrived') return wait;
    } else if (wait !== 'arrived') return wait;
    wait = await channel.wait(channel.length + 1, Math.max(1, deadline - performance.now()));
  }
};

const isPrefix = (arrived: Buffer, expected: Uint8Array): boolean =>
  arrived.equals(expected.subarray(0, arrived.length));

const awaitAnything = async (channel: Channel, length: number, timeoutMs: number): Promise<Wait> => {
  let wait = await channel.wait(1, timeoutMs);
  while (wait === 'arrived' && channel.length < length) {
    const before = channel.length;
    wait = await channel.wait(Math.min(length, before + 1), quietMs);
    if (channel.length === before) break;
  }
  return channel.length > 0 ? 'arrived' : wait;
};

/** Receives a step and compares it with the expected one. */
export const receiveStep = async (channel: Channel, options: ReceiveOptions): Promise<Received> => {
  const { round, session, step, match, timeoutMs } = options;
  let wait = await awaitStep(channel, options);
  const expected = round.bytes(session, step);
  if (match === 'any') {
    const bytes = channel.take(channel.length);
    return { bytes, wait, fault: bytes.length > 0 ? undefined : partial(expected, bytes) };
  }
  if (round.unknownIn(session, step).length > 0) return receiveUnknown(channel, options, wait);
  // A step that differs is consumed completely, so that the next step starts at its own first byte.
  if (wait === 'arrived' && channel.length < expected.length) wait = await channel.wait(expected.length, timeoutMs);
  const bytes = channel.take(expected.length);
  round.recordReceived(session, step, bytes);
  const at = firstDifference(expected, bytes);
  if (at === undefined || (match === 'length' && bytes.length === expected.length)) {
    return { bytes, wait, fault: undefined };
  }
  if (at >= bytes.length) return { bytes, wait, fault: partial(expected, bytes) };
  return { bytes, wait, fault: { kind: 'modified', at, text: describeDifference(expected, bytes, at) } };
};

const partial = (expected: Uint8Array, bytes: Buffer): Fault => ({
  kind: 'partial',
  at: bytes.length,
  text: describeDifference(expected, bytes, bytes.length),
});

const receiveUnknown = (channel: Channel, { round, session, step }: ReceiveOptions, wait: Wait): Received => {
  const found = matchUnknown(round, session, step, channel.peek());
  if (found !== undefined) {
    for (const [name, value] of found.values) round.learn(name, value);
    const bytes = channel.take(found.length);
    round.recordReceived(session, step, bytes);
    return { bytes, wait, fault: undefined };
  }
  const bytes = channel.take(channel.length);
  const at = patternOf(round, session, step).differsAt(bytes);
  const text = `differs at byte ${at} from what was recorded around values of the other side`;
  return { bytes, wait, fault: { kind: wait === 'arrived' ? 'modified' : 'partial', at, text } };
};
