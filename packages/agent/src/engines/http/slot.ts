import type { HttpClientConfig, Target } from '@rushhour/protocol';
import type { IndexedMember } from '../../net/loop/indexed-set.ts';
import type { Message, Route } from '../../net/transport/transport.ts';
import type { Expectation } from './expectation.ts';
import type { GrpcClientMeters } from './grpc/meters.ts';
import type { KnownHead } from './h1/known-head.ts';
import type { ResponseHead } from './h1/response-parser.ts';
import type { HttpMeters } from './meters.ts';
import type { ClientMessageMeters } from './websocket/meters.ts';

/** An HTTP/1.1 request and the body in it. */
export interface PreparedRequest {
  readonly message: Message;
  readonly body: Buffer | undefined;
}

/** A target and the data shared by all its connections. */
export interface HttpTarget {
  readonly target: Target;
  readonly meters: HttpMeters;
  /** With WebSocket only. */
  readonly messages?: ClientMessageMeters;
  /** With gRPC only. */
  readonly calls?: GrpcClientMeters;
  /** The next HTTP/1.1 request: the bodies of all connections take turns. */
  readonly nextRequest: () => PreparedRequest;
  /** Response heads of one target are mostly identical. */
  readonly known: KnownHead<ResponseHead>;
}

/** Chooses targets and expectations for slots. */
export interface SlotPlan {
  readonly config: HttpClientConfig;
  readonly chooseTarget: (slot: number) => { readonly httpTarget: HttpTarget; readonly route: Route };
  readonly createExpectation: () => Expectation;
  /** The body of the next HTTP/2 request. */
  readonly nextBody: () => Buffer | undefined;
}

/** Receives the events of a slot; `now` is from `performance.now`. */
export interface SlotOwner {
  /** A connection is open and can carry `room` requests at once. */
  onOpen(slot: Slot, room: number, now: number): void;
  /** A request has ended; another can be sent. */
  onRoom(slot: Slot, now: number): void;
  /** The server takes no more requests on this connection; those under way go on. */
  onLeave(slot: Slot): void;
  /** The connection is closed or failed; all its requests have been counted. */
  onEnd(slot: Slot, hasFailed: boolean, now: number): void;
}

/** Holds one connection at a time. */
export interface Slot extends IndexedMember {
  readonly index: number;
  /** Number of connections so far. */
  readonly session: number;
  readonly inFlight: number;
  /** `intended`: time at which the session was due. */
  connect(intended: number): void;
  /** Must be called only while there is room. */
  begin(intended: number, now: number): void;
  /** Times out old requests. Called periodically, because a timer per request would cost more than the request. */
  sweep(now: number): void;
  /** Takes no more requests and closes once the last is answered. */
  retire(): void;
  /** Closes immediately; requests in flight count as unanswered. */
  abandon(): void;
}
