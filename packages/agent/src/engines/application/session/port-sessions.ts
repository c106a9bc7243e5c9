import type { Round } from '../round.ts';
import { type LocalValues, type UserIteration, ValuesEnded } from '../values.ts';
import type { Channel } from './channel.ts';
import { type Fit, fitOf, type SessionMatcher } from './session-matcher.ts';

/** A session and the user iteration that was identified. */
export interface MatchedSession {
  readonly matcher: SessionMatcher;
  readonly round: Round;
}

const fitValue: Record<Fit, number> = { none: 0, begun: 1, whole: 2 };

/**
 * All sessions that may arrive at one port. Ports and sequence numbers do not survive a proxy, so a session is
 * identified by its first bytes and, among equal ones, by the order of arrival.
 */
export class PortSessions {
  readonly matchers: readonly SessionMatcher[];
  readonly #isDatagram: boolean;

  constructor(matchers: readonly SessionMatcher[], protocol: 'tcp' | 'udp') {
    this.matchers = matchers;
    this.#isDatagram = protocol === 'udp';
  }

  /** More than one session or user iteration is possible. */
  get isOpen(): boolean {
    return this.matchers.length > 1 || this.matchers.some(({ session }) => session.isVarying);
  }

  /** Identifies the session without consuming bytes. Undefined when nothing is received. */
  async identify(channel: Channel, local: LocalValues, timeoutMs: number): Promise<MatchedSession | undefined> {
    const greeting = this.#fewestPlayed(this.matchers.filter(({ session }) => session.steps[0]?.side === 'server'));
    if (greeting !== undefined) return this.#matchedAt(greeting, greeting.nextUserIteration, local);
    const deadline = performance.now() + timeoutMs;
    for (let isWaiting = true; isWaiting; ) {
      const wait = await channel.wait(channel.length + 1, Math.max(1, deadline - performance.now()));
      const arrived = channel.peek();
      const fits = this.matchers.map((matcher) => ({ matcher, ...matcher.fit(arrived, this.#isDatagram) }));
      const best = Math.max(...fits.map(({ fit }) => fitValue[fit]));
      const whole = fits.filter(({ fit }) => fit === 'whole');
      const chosen = this.#fewestPlayed(whole.map(({ matcher }) => matcher));
      if (chosen !== undefined) {
        return this.#matchedAt(
          chosen,
          whole.find(({ matcher }) => matcher === chosen)?.userIteration ?? chosen.nextUserIteration,
          local,
        );
      }
      isWaiting = wait === 'arrived' && best > fitValue.none;
    }
    return channel.length === 0 ? undefined : this.#nearest(channel.peek(), local);
  }

  /** Another session with the same steps so far that matches the received step; undefined when there is none. */
  findAlternative(matched: MatchedSession, step: number, arrived: Buffer): MatchedSession | undefined {
    for (const matcher of this.matchers) {
      if (matcher.session.steps[step]?.side !== 'client') continue;
      for (const userIteration of matcher.candidates()) {
        const round = matcher.round(userIteration, matched.round.local);
        if (!isSame(matched, { matcher, round }, step)) continue;
        const bytes = bytesOf({ matcher, round }, step);
        if (bytes === undefined || fitOf(bytes, arrived, this.#isDatagram) !== 'whole') continue;
        return { matcher, round };
      }
    }
    return undefined;
  }

  #matchedAt(matcher: SessionMatcher, userIteration: UserIteration, local: LocalValues): MatchedSession {
    return { matcher, round: matcher.round(userIteration, local) };
  }

  #fewestPlayed(matchers: readonly SessionMatcher[]): SessionMatcher | undefined {
    return matchers.reduce<SessionMatcher | undefined>(
      (lowest, matcher) => (lowest === undefined || matcher.played < lowest.played ? matcher : lowest),
      undefined,
    );
  }

  /** No session starts with these bytes: the one with the longest common prefix is assumed. */
  #nearest(arrived: Buffer, local: LocalValues): MatchedSession | undefined {
    let best: { matcher: SessionMatcher; userIteration: UserIteration; common: number } | undefined;
    for (const matcher of this.matchers) {
      if (matcher.opening === undefined) continue;
      for (const userIteration of matcher.candidates()) {
        const common = matcher.common(userIteration, arrived);
        if (best === undefined || common > best.common) best = { matcher, userIteration, common };
      }
    }
    return best && this.#matchedAt(best.matcher, best.userIteration, local);
  }
}

const bytesOf = ({ matcher, round }: MatchedSession, step: number): Uint8Array | undefined => {
  try {
    return round.bytes(matcher.position, step);
  } catch (error) {
    if (error instanceof RangeError || error instanceof ValuesEnded) return undefined;
    throw error;
  }
};

/** Both have the same steps before this one. */
const isSame = (one: MatchedSession, other: MatchedSession, before: number): boolean => {
  for (let step = 0; step < before; step++) {
    if (one.matcher.session.steps[step]?.side !== other.matcher.session.steps[step]?.side) return false;
    const [left, right] = [bytesOf(one, step), bytesOf(other, step)];
    if (left === undefined || right === undefined || (left !== right && !Buffer.from(left).equals(right))) return false;
  }
  return true;
};
