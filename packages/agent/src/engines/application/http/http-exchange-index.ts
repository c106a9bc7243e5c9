import { createHash } from 'node:crypto';
import type { Fault } from '../session/receive-step.ts';
import type { SessionMatcher } from '../session/session-matcher.ts';
import { type UserIteration, ValuesEnded } from '../values.ts';
import { compareMessages } from './compare-http-messages.ts';
import { exchangesOf, type HttpExchange } from './http-exchanges.ts';
import { type HttpMessage, methodOf, targetOf } from './http-message.ts';

/** How many iterations after the last one seen are expected. */
const ahead = 3;
const maxEntries = 200_000;

/** An expected request and its response. */
interface Entry extends HttpExchange {
  readonly matcher: SessionMatcher;
  readonly userIteration: UserIteration;
  served: number;
}

interface Found {
  readonly entry: Entry;
  readonly fault: Fault | undefined;
}

/** All requests expected at one port. A proxy may spread the requests of a session over several connections. */
export class HttpExchangeIndex {
  readonly #byKey = new Map<string, Entry[]>();
  readonly #seen = new Map<SessionMatcher, Int32Array>();
  #count = 0;

  constructor(matchers: readonly SessionMatcher[]) {
    for (const matcher of matchers) {
      const { isVarying } = matcher.session;
      const { users } = matcher.script.play;
      this.#seen.set(matcher, new Int32Array(users));
      for (let user = 0; user < (isVarying ? users : 1); user++) {
        for (let iteration = 0; iteration <= (isVarying ? ahead : 0); iteration++)
          this.#add(matcher, { user, iteration });
      }
    }
  }

  /** The most similar recorded request and its first difference; undefined when nothing was recorded. */
  find(request: HttpMessage): Found | undefined {
    const alike = this.#byKey.get(keyOf(request)) ?? this.#sameTarget(request) ?? [...this.#byKey.values()].flat();
    let best: Found | undefined;
    for (const entry of alike) {
      const fault = compareMessages(entry.request.message, request, 'request');
      if (best !== undefined && rankOf({ entry, fault }) >= rankOf(best)) continue;
      best = { entry, fault };
    }
    if (best !== undefined) this.#serve(best.entry);
    return best;
  }

  #sameTarget(request: HttpMessage): Entry[] | undefined {
    const all = [...this.#byKey.values()].flat();
    const same = all.filter(({ request: { message } }) => targetOf(message) === targetOf(request));
    return same.length > 0 ? same : undefined;
  }

  #serve(entry: Entry): void {
    entry.served++;
    const { matcher, userIteration } = entry;
    const seen = this.#seen.get(matcher) as Int32Array;
    const before = seen[userIteration.user] as number;
    if (!matcher.session.isVarying || userIteration.iteration <= before) return;
    seen[userIteration.user] = userIteration.iteration;
    for (let past = before; past < userIteration.iteration; past++)
      this.#remove(matcher, { user: userIteration.user, iteration: past });
    for (let next = before + ahead + 1; next <= userIteration.iteration + ahead; next++) {
      this.#add(matcher, { user: userIteration.user, iteration: next });
    }
  }

  #add(matcher: SessionMatcher, userIteration: UserIteration): void {
    for (const exchange of exchangesAt(matcher, userIteration)) {
      if (++this.#count > maxEntries) throw new RangeError(`more than ${maxEntries} requests would be expected`);
      const key = keyOf(exchange.request.message);
      const entries = this.#byKey.get(key) ?? [];
      entries.push({ ...exchange, matcher, userIteration, served: 0 });
      this.#byKey.set(key, entries);
    }
  }

  #remove(matcher: SessionMatcher, userIteration: UserIteration): void {
    for (const { request } of exchangesAt(matcher, userIteration)) {
      const key = keyOf(request.message);
      const entries = this.#byKey.get(key) ?? [];
      const left = entries.filter(
        (one) =>
          one.matcher !== matcher ||
          one.userIteration.user !== userIteration.user ||
          one.userIteration.iteration !== userIteration.iteration,
      );
      this.#count -= entries.length - left.length;
      if (left.length > 0) this.#byKey.set(key, left);
      else this.#byKey.delete(key);
    }
  }
}

/** Empty when the parameters have no values for this user iteration. */
const exchangesAt = (matcher: SessionMatcher, userIteration: UserIteration): HttpExchange[] => {
  try {
    return exchangesOf(matcher.round(userIteration, {}), matcher.position) ?? [];
  } catch (error) {
    if (error instanceof RangeError || error instanceof ValuesEnded) return [];
    throw error;
  }
};

/** Exact matches first, then the least served. */
const rankOf = ({ entry, fault }: Found): number => (fault === undefined ? 0 : 1e15) + entry.served;

const keyOf = (request: HttpMessage): string =>
  [methodOf(request), targetOf(request), createHash('sha1').update(request.body).digest('base64')].join(' ');
