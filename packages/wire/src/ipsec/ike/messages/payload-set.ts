import { type IkePayload, IkeSyntaxError } from './message.ts';
import { firstStatusNotify, payloadType } from './numbers.ts';
import { type Notification, readNotify } from './payloads.ts';

/** The payloads of a message, found by type. */
export class PayloadSet {
  readonly notifications: readonly Notification[];
  readonly #payloads: readonly IkePayload[];

  constructor(payloads: readonly IkePayload[]) {
    this.#payloads = payloads;
    this.notifications = this.all(payloadType.notify).map(readNotify);
  }

  find(type: number): Uint8Array | undefined {
    return this.#payloads.find((one) => one.type === type)?.body;
  }

  /** Throws when it is missing. */
  get(type: number): Uint8Array {
    const body = this.find(type);
    if (body === undefined) throw new IkeSyntaxError(`payload ${type} is missing`);
    return body;
  }

  all(type: number): Uint8Array[] {
    return this.#payloads.flatMap((one) => (one.type === type ? [one.body] : []));
  }

  notification(type: number): Notification | undefined {
    return this.notifications.find((one) => one.type === type);
  }

  /** The first error among the notifications. */
  get error(): Notification | undefined {
    return this.notifications.find(({ type }) => type < firstStatusNotify);
  }
}
