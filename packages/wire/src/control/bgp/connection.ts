import { type BgpFamily, findFamily } from './families.ts';
import { bgpType, keepaliveMessage, MessageReader, notificationMessage } from './message.ts';
import { BgpError, bgpError, ceaseReason, describeNotification, openError } from './notification.ts';
import { type OpenMessage, openMessage, parseOpen } from './open.ts';
import { parseUpdate, type UpdateMessage } from './update.ts';

/** A TCP connection. */
export interface BgpStream {
  /** The bytes must not change afterwards. */
  write(bytes: Uint8Array): void;
  /** Sends what is written, then closes. */
  close(): void;
}

export interface ConnectionOptions {
  readonly open: OpenMessage;
  readonly peerAs: number;
  readonly keepaliveMs: number;
  /** False: another connection to the same neighbour stays, and this one ends. */
  isOpenAllowed(connection: BgpConnection, peer: OpenMessage): boolean;
  onState(connection: BgpConnection): void;
  onEstablished(connection: BgpConnection): void;
  onUpdate(update: UpdateMessage): void;
  onRefresh(family: BgpFamily): void;
  /** Called exactly once. `isGraceful`: the connection broke without a NOTIFICATION. */
  onClosed(connection: BgpConnection, reason: string, isGraceful: boolean): void;
  onMessage(direction: 'tx' | 'rx'): void;
}

type ConnectionState = 'connect' | 'openSent' | 'openConfirm' | 'established' | 'closed';

/** Silence that is accepted before the neighbour has agreed on a hold time. */
const openHoldMs = 240_000;
const keepalive = keepaliveMessage();
const never = Number.POSITIVE_INFINITY;
const stateErrors: Readonly<Record<string, number>> = { openSent: 1, openConfirm: 2, established: 3 };

/** One TCP connection to a neighbour: OPEN, KEEPALIVE and the hold timer. */
export class BgpConnection {
  readonly isOutgoing: boolean;
  state: ConnectionState = 'connect';
  peerOpen: OpenMessage | undefined;
  readonly #stream: BgpStream;
  readonly #options: ConnectionOptions;
  readonly #reader = new MessageReader();
  #fourByteAs = false;
  #families: readonly BgpFamily[] = [];
  #now = 0;
  #holdMs = openHoldMs;
  #keepaliveMs = 0;
  #holdAt = never;
  #keepaliveAt = never;

  constructor(stream: BgpStream, isOutgoing: boolean, options: ConnectionOptions) {
    this.#stream = stream;
    this.isOutgoing = isOutgoing;
    this.#options = options;
  }

  /** TCP is established. */
  opened(now: number): void {
    if (this.state !== 'connect') return;
    this.#now = now;
    this.#holdAt = now + openHoldMs;
    this.state = 'openSent';
    this.send(openMessage(this.#options.open));
    this.#options.onState(this);
  }

  received(bytes: Uint8Array, now: number): void {
    if (this.state === 'closed') return;
    this.#now = now;
    try {
      this.#reader.read(bytes, (type, input, start, end) => this.#take(type, input, start, end));
    } catch (error) {
      if (!(error instanceof BgpError)) throw error;
      this.fail(error);
    }
  }

  /** TCP has ended. */
  closed(now: number, cause: string | undefined): void {
    this.#now = now;
    this.#end(cause === undefined ? 'connection closed by the neighbour' : `connection failed: ${cause}`, true);
  }

  advance(now: number): void {
    this.#now = now;
    if (now >= this.#holdAt) this.fail(new BgpError(bgpError.holdTimer, 0));
    else if (now >= this.#keepaliveAt) {
      this.#keepaliveAt = now + this.#keepaliveMs;
      this.send(keepalive);
    }
  }

  send(bytes: Uint8Array): void {
    if (this.state === 'closed') return;
    this.#options.onMessage('tx');
    this.sendRaw(bytes);
  }

  /** Writes messages that the caller has counted. */
  sendRaw(bytes: Uint8Array): void {
    if (this.state === 'closed') return;
    this.#stream.write(bytes);
    if (this.#keepaliveAt !== never) this.#keepaliveAt = this.#now + this.#keepaliveMs;
  }

  /** Sends a NOTIFICATION and closes. */
  fail(error: BgpError): void {
    if (this.state === 'closed') return;
    if (this.state !== 'connect') this.send(notificationMessage(error));
    this.#end(`sent ${error.message}`, false);
    this.#stream.close();
  }

  /** Closes without a NOTIFICATION. */
  drop(reason: string): void {
    if (this.state === 'closed') return;
    this.#end(reason, true);
    this.#stream.close();
  }

  useAgreement(agreed: { fourByteAs: boolean; families: readonly BgpFamily[] }, maxMessage: number): void {
    this.#fourByteAs = agreed.fourByteAs;
    this.#families = agreed.families;
    this.#reader.maxLength = maxMessage;
  }

  #end(reason: string, isGraceful: boolean): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#holdAt = never;
    this.#keepaliveAt = never;
    this.#options.onClosed(this, reason, isGraceful);
  }

  #take(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.state === 'closed') return;
    this.#options.onMessage('rx');
    if (type === bgpType.notification) {
      const [code = 0, subcode = 0] = bytes.subarray(start, start + 2);
      this.#end(`received ${describeNotification(code, subcode)}`, false);
      this.#stream.close();
    } else if (this.state === 'openSent' && type === bgpType.open) this.#takeOpen(bytes, start, end);
    else if (this.state === 'openConfirm' && type === bgpType.keepalive) {
      this.#resetHold();
      this.state = 'established';
      this.#options.onEstablished(this);
    } else if (this.state === 'established' && type !== bgpType.open) {
      this.#resetHold();
      this.#takeEstablished(type, bytes, start, end);
    } else throw new BgpError(bgpError.stateMachine, stateErrors[this.state] ?? 0);
  }

  #takeEstablished(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (type === bgpType.update) {
      this.#options.onUpdate(parseUpdate(bytes, start, end, { fourByteAs: this.#fourByteAs }));
      return;
    }
    if (type !== bgpType.routeRefresh) return;
    const family = findFamily(
      ((bytes[start] as number) << 8) | (bytes[start + 1] as number),
      bytes[start + 3] as number,
    );
    // Only plain requests: markers of the enhanced refresh (RFC 7313) need no answer.
    if (family !== undefined && bytes[start + 2] === 0 && this.#families.includes(family))
      this.#options.onRefresh(family);
  }

  #takeOpen(bytes: Uint8Array, start: number, end: number): void {
    const peer = parseOpen(bytes, start, end);
    const { open, peerAs } = this.#options;
    if (peer.as !== peerAs) throw new BgpError(bgpError.open, openError.badPeerAs);
    if (peer.as === open.as && peer.routerId === open.routerId)
      throw new BgpError(bgpError.open, openError.badIdentifier);
    this.peerOpen = peer;
    if (!this.#options.isOpenAllowed(this, peer)) throw new BgpError(bgpError.cease, ceaseReason.collision);
    const holdSec = Math.min(open.holdSec, peer.holdSec);
    this.#holdMs = holdSec * 1000;
    const third = this.#holdMs / 3;
    this.#keepaliveMs = this.#options.keepaliveMs === 0 ? third : Math.min(this.#options.keepaliveMs, third);
    this.#resetHold();
    this.state = 'openConfirm';
    this.send(keepalive);
    this.#keepaliveAt = holdSec === 0 ? never : this.#now + this.#keepaliveMs;
    this.#options.onState(this);
  }

  #resetHold(): void {
    this.#holdAt = this.#holdMs === 0 ? never : this.#now + this.#holdMs;
  }
}
