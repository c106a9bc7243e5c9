import type { HttpClientConfig, Target } from '@rushhour/protocol';
import type { IndexedMember } from '../../net/loop/indexed-set.ts';
import type { Message, Route } from '../../net/transport/transport.ts';
import type { Expectation } from './expectation.ts';
import type { KnownHead } from './known-head.ts';
import type { HttpMeters } from './meters.ts';
import type { ResponseHead } from './response-parser.ts';

/** Where a connection goes, and what all that go there share. */
export interface HttpTarget {
  readonly target: Target;
  readonly meters: HttpMeters;
  /** As HTTP/1.1 sends it. */
  readonly request: Message;
  /** Answers of one target are mostly alike. */
  readonly known: KnownHead<ResponseHead>;
}

/** What a slot needs to know to make connections. */
export interface SlotPlan {
  readonly config: HttpClientConfig;
  readonly chooseTarget: (slot: number) => { readonly httpTarget: HttpTarget; readonly route: Route };
  readonly createExpectation: () => Expectation;
}

/** Told by a slot what happened in it; `now` is the time of `performance.now`. */
export interface SlotOwner {
  /** A new connection stands, with room for `room` requests at once. */
  onOpen(slot: Slot, room: number, now: number): void;
  /** A request has ended and there is room for another. */
  onRoom(slot: Slot, now: number): void;
  /** The connection is gone, or never came about, and every request on it is accounted for. */
  onEnd(slot: Slot, hasFailed: boolean, now: number): void;
}

/** A place in which one connection after another lives. */
export interface Slot extends IndexedMember {
  readonly index: number;
  /** How many connections there have been. */
  readonly session: number;
  readonly inFlight: number;
  /** `intended`: when the session was due. */
  connect(intended: number): void;
  /** Only while there is room. */
  begin(intended: number, now: number): void;
  /** Ends what has waited too long. Called now and then: timers for every request would cost more than requests. */
  sweep(now: number): void;
  /** Takes no more requests and closes once the last is answered. */
  retire(): void;
  /** Closes at once; what is under way stays unanswered. */
  abandon(): void;
}
