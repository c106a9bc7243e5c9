import type { GrpcSettings } from '@rushhour/protocol';
import { GrpcReader, grpcStatus, type Header } from '@rushhour/wire';
import { messagesOf } from '../../../net/load/payload.ts';
import { cyclerOf } from '../../../net/load/rotation.ts';
import { decompressed, framed, maxMessageBytes } from './compression.ts';
import type { GrpcClientMeters } from './meters.ts';

/** Calls of one client, with their messages in turn. */
export interface GrpcPlan {
  readonly settings: GrpcSettings;
  readonly nextMessage: () => Buffer;
}

export const grpcPlanOf = (settings: GrpcSettings): GrpcPlan => ({
  settings,
  nextMessage: cyclerOf(messagesOf(settings.message)),
});

/** The status of a call that these headers end; undefined if they do not say. */
const statusIn = (headers: readonly Header[]): number | undefined => {
  const value = headers.find(([name]) => name === 'grpc-status')?.[1];
  return value === undefined ? undefined : /^\d{1,2}$/.test(value) ? Number(value) : grpcStatus.unknown;
};

/** One call of a client. */
export class GrpcCall {
  readonly #plan: GrpcPlan;
  readonly #meters: GrpcClientMeters;
  readonly #reader = new GrpcReader(maxMessageBytes, decompressed);
  /** When the message that waits for its answer was written, or the last one came. */
  #since: number;
  #left: number;
  #received = 0;
  #status: number | undefined;

  constructor(plan: GrpcPlan, meters: GrpcClientMeters, now: number) {
    const { call, messages } = plan.settings;
    this.#plan = plan;
    this.#meters = meters;
    this.#since = now;
    this.#left = call === 'clientStreaming' || call === 'bidirectional' ? messages : 1;
  }

  /** What opens the call. Where both sides stream, each further message follows the answer to the one before. */
  first(): { readonly body: Uint8Array; readonly isLast: boolean } {
    return this.#next(this.#plan.settings.call === 'bidirectional' ? 1 : this.#left);
  }

  /** Returns what to send next. Throws `GrpcError`. */
  onBody(bytes: Uint8Array, start: number, end: number, now: number): ReturnType<GrpcCall['first']> | undefined {
    let answers = 0;
    this.#reader.feed(bytes, start, end, () => {
      answers++;
      this.#take(now);
    });
    const goesOn = answers > 0 && this.#left > 0 && this.#plan.settings.call === 'bidirectional';
    if (!goesOn) return undefined;
    this.#since = now;
    return this.#next(1);
  }

  onHeaders(headers: readonly Header[]): void {
    this.#status = statusIn(headers) ?? this.#status;
  }

  /** Counts the end of the call; true if its status is OK. */
  end(): boolean {
    const status = this.#reader.isBetween ? (this.#status ?? grpcStatus.unknown) : grpcStatus.internal;
    this.#meters.ended(status);
    return status === grpcStatus.ok;
  }

  #take(now: number): void {
    this.#meters.received.add(1);
    const isAnswer = this.#received === 0 || this.#plan.settings.call === 'bidirectional';
    (isAnswer ? this.#meters.latency : this.#meters.gap).record((now - this.#since) * 1000);
    this.#received++;
    this.#since = now;
  }

  #next(count: number): { readonly body: Uint8Array; readonly isLast: boolean } {
    this.#left -= count;
    this.#meters.sent.add(count);
    const messages = Array.from({ length: count }, () => this.#plan.nextMessage());
    const body = framed(messages, this.#plan.settings.compression);
    return { body, isLast: this.#left === 0 };
  }
}
