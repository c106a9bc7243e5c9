import { createHash } from 'node:crypto';
import type { Part } from './cast.ts';
import { exchangesOf, type HttpExchange } from './http-exchanges.ts';
import { type HttpMessage, methodOf, targetOf } from './http-message.ts';
import { compareMessages } from './http-rules.ts';
import type { Fault } from './receive.ts';
import { type Turn, ValuesEnded } from './values.ts';

/** Iterations of a user whose requests are awaited, beside the one that was seen last. */
const ahead = 3;
const mostEntries = 200_000;

/** A request that may come, and what is answered. */
interface Entry extends HttpExchange {
  readonly part: Part;
  readonly turn: Turn;
  served: number;
}

interface Found {
  readonly entry: Entry;
  readonly fault: Fault | undefined;
}

/** All requests that may come to one port. A proxy may send those of one session by several connections. */
export class HttpLibrary {
  readonly #byKey = new Map<string, Entry[]>();
  readonly #seen = new Map<Part, Int32Array>();
  #count = 0;

  constructor(parts: readonly Part[]) {
    for (const part of parts) {
      const { isVarying } = part.session;
      const { users } = part.script.play;
      this.#seen.set(part, new Int32Array(users));
      for (let user = 0; user < (isVarying ? users : 1); user++) {
        for (let iteration = 0; iteration <= (isVarying ? ahead : 0); iteration++) this.#add(part, { user, iteration });
      }
    }
  }

  /** The recorded request that comes nearest, and what is not as it was; undefined when there is nothing at all. */
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
    const { part, turn } = entry;
    const seen = this.#seen.get(part) as Int32Array;
    const before = seen[turn.user] as number;
    if (!part.session.isVarying || turn.iteration <= before) return;
    seen[turn.user] = turn.iteration;
    for (let past = before; past < turn.iteration; past++) this.#remove(part, { user: turn.user, iteration: past });
    for (let next = before + ahead + 1; next <= turn.iteration + ahead; next++) {
      this.#add(part, { user: turn.user, iteration: next });
    }
  }

  #add(part: Part, turn: Turn): void {
    for (const exchange of exchangesAt(part, turn)) {
      if (++this.#count > mostEntries) throw new RangeError(`more than ${mostEntries} requests would be awaited`);
      const key = keyOf(exchange.request.message);
      const entries = this.#byKey.get(key) ?? [];
      entries.push({ ...exchange, part, turn, served: 0 });
      this.#byKey.set(key, entries);
    }
  }

  #remove(part: Part, turn: Turn): void {
    for (const { request } of exchangesAt(part, turn)) {
      const key = keyOf(request.message);
      const entries = this.#byKey.get(key) ?? [];
      const left = entries.filter(
        (one) => one.part !== part || one.turn.user !== turn.user || one.turn.iteration !== turn.iteration,
      );
      this.#count -= entries.length - left.length;
      if (left.length > 0) this.#byKey.set(key, left);
      else this.#byKey.delete(key);
    }
  }
}

/** None where a turn has no values any more. */
const exchangesAt = (part: Part, turn: Turn): HttpExchange[] => {
  try {
    return exchangesOf(part.round(turn, {}), part.position) ?? [];
  } catch (error) {
    if (error instanceof RangeError || error instanceof ValuesEnded) return [];
    throw error;
  }
};

/** What fits comes first, then what was asked least often. */
const rankOf = ({ entry, fault }: Found): number => (fault === undefined ? 0 : 1e15) + entry.served;

const keyOf = (request: HttpMessage): string =>
  [methodOf(request), targetOf(request), createHash('sha1').update(request.body).digest('base64')].join(' ');
