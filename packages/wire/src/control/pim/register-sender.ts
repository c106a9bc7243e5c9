import { compareAddresses, textOfAddress } from '../address-bytes.ts';
import { GroupSequence } from './group-sequence.ts';
import type { RegisterMessage } from './message.ts';
import { registeredPacket } from './registered-packet.ts';

export interface RegisterOptions {
  /** 0: none. */
  readonly perSec: number;
  /** Without data inside. */
  readonly isNull: boolean;
  readonly sources: readonly Uint8Array[];
  readonly firstGroup: Uint8Array;
  readonly groupCount: number;
  readonly random: () => number;
}

/** How long a source is silent after the rendezvous point has said so, at the most and at the least (RFC 7761, 4.4.1). */
const suppression = { fromMs: 30_000, toMs: 90_000 } as const;
const maxSuppressed = 100_000;
/** Messages of one step. */
const maxMessages = 1000;

/** Tells the rendezvous point of sources, one after the other. */
export class RegisterSender {
  readonly #options: RegisterOptions;
  readonly #groups: GroupSequence;
  readonly #silentUntil = new Map<string, number>();
  #dueFrom = 0;
  #sent = 0;
  #next = 0;

  constructor(options: RegisterOptions) {
    this.#options = options;
    this.#groups = new GroupSequence(options.firstGroup);
  }

  start(now: number): void {
    this.#dueFrom = now;
    this.#sent = 0;
    this.#silentUntil.clear();
  }

  /** Messages that are due, with the group that says which rendezvous point gets them. */
  due(now: number): { readonly group: Uint8Array; readonly message: RegisterMessage }[] {
    const { perSec, sources, groupCount, isNull } = this.#options;
    const due = Math.floor(((now - this.#dueFrom) * perSec) / 1000) - this.#sent;
    const pairs = sources.length * groupCount;
    const messages: { group: Uint8Array; message: RegisterMessage }[] = [];
    const wanted = Math.min(due, maxMessages);
    for (let tries = 0; messages.length < wanted && tries < wanted + Math.min(pairs, maxMessages); tries++) {
      const group = this.#groups.at(Math.floor(this.#next / sources.length));
      const source = sources[this.#next % sources.length] as Uint8Array;
      this.#next = (this.#next + 1) % pairs;
      if (this.#isSilent(group, source, now)) continue;
      const packet = registeredPacket(source, group, isNull);
      messages.push({ group, message: { kind: 'register', isBorder: false, isNull, packet } });
    }
    // What was not due to be sent, because all were silent or too many waited, is not made up for.
    this.#sent += Math.max(due, 0);
    return messages;
  }

  /** The rendezvous point has enough of a source; an address of zeros stands for all sources of the group. */
  stop(group: Uint8Array, source: Uint8Array, now: number): void {
    const { sources, random } = this.#options;
    const isAll = source.every((byte) => byte === 0);
    const until = now + suppression.fromMs + random() * (suppression.toMs - suppression.fromMs);
    for (const one of sources)
      if ((isAll || compareAddresses(one, source) === 0) && this.#silentUntil.size < maxSuppressed)
        this.#silentUntil.set(this.#keyOf(group, one), until);
  }

  #keyOf(group: Uint8Array, source: Uint8Array): string {
    return `${textOfAddress(group)} ${textOfAddress(source)}`;
  }

  #isSilent(group: Uint8Array, source: Uint8Array, now: number): boolean {
    const key = this.#keyOf(group, source);
    const until = this.#silentUntil.get(key);
    if (until === undefined || now < until) return until !== undefined;
    this.#silentUntil.delete(key);
    return false;
  }
}
