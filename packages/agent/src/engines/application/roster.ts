import { type Fit, fitOf, type Part } from './cast.ts';
import type { Channel } from './channel.ts';
import type { Round } from './round.ts';
import { type LocalValues, type Turn, ValuesEnded } from './values.ts';

/** A session, and who plays it. */
export interface Role {
  readonly part: Part;
  readonly round: Round;
}

const fitValue: Record<Fit, number> = { none: 0, begun: 1, whole: 2 };

/**
 * All sessions that may come to one port. Ports and sequence numbers do not survive a proxy, so who it is is told by the
 * first bytes and, among those that begin alike, by the order in which they come.
 */
export class Roster {
  readonly parts: readonly Part[];
  readonly #isDatagram: boolean;

  constructor(parts: readonly Part[], protocol: 'tcp' | 'udp') {
    this.parts = parts;
    this.#isDatagram = protocol === 'udp';
  }

  /** Several may be meant. */
  get isOpen(): boolean {
    return this.parts.length > 1 || this.parts.some(({ session }) => session.isVarying);
  }

  /** Finds out who has come; takes nothing from the channel. Undefined when nobody says anything. */
  async identify(channel: Channel, local: LocalValues, timeoutMs: number): Promise<Role | undefined> {
    const greeting = this.#leastPlayed(this.parts.filter(({ session }) => session.steps[0]?.side === 'server'));
    if (greeting !== undefined) return this.#role(greeting, greeting.usualTurn, local);
    const deadline = performance.now() + timeoutMs;
    for (let isWaiting = true; isWaiting; ) {
      const wait = await channel.wait(channel.length + 1, Math.max(1, deadline - performance.now()));
      const arrived = channel.peek();
      const fits = this.parts.map((part) => ({ part, ...part.fit(arrived, this.#isDatagram) }));
      const best = Math.max(...fits.map(({ fit }) => fitValue[fit]));
      const whole = fits.filter(({ fit }) => fit === 'whole');
      const chosen = this.#leastPlayed(whole.map(({ part }) => part));
      if (chosen !== undefined) {
        return this.#role(chosen, whole.find(({ part }) => part === chosen)?.turn ?? chosen.usualTurn, local);
      }
      isWaiting = wait === 'arrived' && best > fitValue.none;
    }
    return channel.length === 0 ? undefined : this.#nearest(channel.peek(), local);
  }

  /** Another role that has had the same steps so far and that the next one fits; undefined when there is none. */
  instead(role: Role, step: number, arrived: Buffer): Role | undefined {
    for (const part of this.parts) {
      if (part.session.steps[step]?.side !== 'client') continue;
      for (const turn of part.turns()) {
        const round = part.round(turn, role.round.local);
        if (!isSame(role, { part, round }, step)) continue;
        const bytes = bytesOf({ part, round }, step);
        if (bytes === undefined || fitOf(bytes, arrived, this.#isDatagram) !== 'whole') continue;
        return { part, round };
      }
    }
    return undefined;
  }

  #role(part: Part, turn: Turn, local: LocalValues): Role {
    return { part, round: part.round(turn, local) };
  }

  #leastPlayed(parts: readonly Part[]): Part | undefined {
    return parts.reduce<Part | undefined>(
      (least, part) => (least === undefined || part.played < least.played ? part : least),
      undefined,
    );
  }

  /** Nobody begins so: the one that goes furthest is held to be meant. */
  #nearest(arrived: Buffer, local: LocalValues): Role | undefined {
    let best: { part: Part; turn: Turn; common: number } | undefined;
    for (const part of this.parts) {
      if (part.opening === undefined) continue;
      for (const turn of part.turns()) {
        const common = part.common(turn, arrived);
        if (best === undefined || common > best.common) best = { part, turn, common };
      }
    }
    return best && this.#role(best.part, best.turn, local);
  }
}

const bytesOf = ({ part, round }: Role, step: number): Uint8Array | undefined => {
  try {
    return round.bytes(part.position, step);
  } catch (error) {
    if (error instanceof RangeError || error instanceof ValuesEnded) return undefined;
    throw error;
  }
};

/** Both would have said and heard the same before this step. */
const isSame = (one: Role, other: Role, before: number): boolean => {
  for (let step = 0; step < before; step++) {
    if (one.part.session.steps[step]?.side !== other.part.session.steps[step]?.side) return false;
    const [left, right] = [bytesOf(one, step), bytesOf(other, step)];
    if (left === undefined || right === undefined || (left !== right && !Buffer.from(left).equals(right))) return false;
  }
  return true;
};
