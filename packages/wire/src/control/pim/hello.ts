import type { MessageWriter } from '../message-writer.ts';
import type { PimReader } from './encoding.ts';

const option = { hold: 1, pruneDelay: 2, priority: 19, generation: 20 } as const;

/** How long neighbours may take to hear of a prune, and to object to it. */
export interface PruneDelay {
  /** The sender can do without the suppression of joins. */
  readonly canTrack: boolean;
  readonly propagationMs: number;
  readonly overrideMs: number;
}

/** A hello (RFC 7761, section 4.9.2); undefined: the option is left out. */
export interface HelloMessage {
  readonly kind: 'hello';
  /** 0: the router leaves, 65535: it stays for ever. */
  readonly holdSec: number;
  readonly pruneDelay: PruneDelay | undefined;
  readonly drPriority: number | undefined;
  readonly generationId: number | undefined;
}

/** Without the option. */
const defaultHoldSec = 105;

export const writeHello = (writer: MessageWriter, hello: HelloMessage): void => {
  const { holdSec, pruneDelay, drPriority, generationId } = hello;
  writer.u16(option.hold).u16(2).u16(holdSec);
  if (pruneDelay !== undefined) {
    const { canTrack, propagationMs, overrideMs } = pruneDelay;
    writer.u16(option.pruneDelay).u16(4);
    writer.u16((canTrack ? 0x8000 : 0) | propagationMs).u16(overrideMs);
  }
  if (drPriority !== undefined) writer.u16(option.priority).u16(4).u32(drPriority);
  if (generationId !== undefined) writer.u16(option.generation).u16(4).u32(generationId);
};

/** Options with a length of their own are passed over, as are unknown ones. */
export const readHello = (reader: PimReader): HelloMessage => {
  let holdSec = defaultHoldSec;
  let pruneDelay: PruneDelay | undefined;
  let drPriority: number | undefined;
  let generationId: number | undefined;
  while (reader.left > 0) {
    const type = reader.number(2);
    const length = reader.number(2);
    if (type === option.hold && length === 2) holdSec = reader.number(2);
    else if (type === option.pruneDelay && length === 4) {
      const delay = reader.number(2);
      pruneDelay = { canTrack: delay >= 0x8000, propagationMs: delay & 0x7fff, overrideMs: reader.number(2) };
    } else if (type === option.priority && length === 4) drPriority = reader.number(4);
    else if (type === option.generation && length === 4) generationId = reader.number(4);
    else reader.take(length);
  }
  return { kind: 'hello', holdSec, pruneDelay, drPriority, generationId };
};
