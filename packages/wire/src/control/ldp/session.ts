import { bytesOfAddress } from '../address-bytes.ts';
import { MessageWriter } from '../message-writer.ts';
import { type LdpBindings, writeMapping } from './bindings.ts';
import { type Fec, ldpFamily, parseFecs, writeWildcardFec } from './fec.ts';
import {
  describeLdpStatus,
  findTlv,
  LdpError,
  type LdpMessage,
  ldpPduLength,
  ldpStatus,
  ldpTlv,
  ldpType,
  maxLdpPdu,
  parsePdu,
  requireTlv,
  writeLdpMessage,
  writePdu,
  writeTlv,
} from './pdu.ts';

/** A TCP connection. */
export interface LdpStream {
  /** The bytes must not change afterwards. */
  write(bytes: Uint8Array): void;
  /** Sends what is written, then closes. */
  close(): void;
}

export interface LdpSessionOptions {
  readonly lsrId: number;
  readonly peerLsrId: number;
  readonly address: string;
  readonly keepaliveMs: number;
  readonly holdSec: number;
  readonly isActive: boolean;
  /** False: everything is withdrawn. */
  readonly isAnnouncing: boolean;
  readonly bindings: LdpBindings;
  /** TLVs of the capabilities of extensions. */
  readonly capabilities: readonly number[];
}

/** A message to be written. */
export interface LdpDraft {
  readonly type: number;
  write(writer: MessageWriter): void;
}

export interface LdpSessionEvents {
  onMessage(direction: 'tx' | 'rx'): void;
  onLabel(direction: 'prefixesSent' | 'prefixesReceived'): void;
  onOperational(now: number): void;
  /** Gives a message to extensions; false: none of them knows it. */
  take(message: LdpMessage): boolean;
  /** The connection takes more data. */
  onRoom(): void;
  /** Called exactly once. */
  onClosed(reason: string, now: number): void;
}

type State = 'connecting' | 'initialized' | 'openReceived' | 'operational' | 'closed';

const never = Number.POSITIVE_INFINITY;
const fatalBit = 0x80000000;
const onDemandBit = 0x8000;
/** Mappings are written in parts of about this size, as fast as the connection takes them. */
const batchBytes = 1 << 16;
/** Room for a message with one mapping. */
const mappingBytes = 40;
/** Room for a message of an extension. */
const draftBytes = 512;
const initialHoldMs = 180_000;

/** One TCP connection to a neighbour (RFC 5036, section 2.5.4). */
export class LdpSession {
  state: State = 'connecting';
  /** Labels by prefix. */
  readonly labels = new Map<string, number>();
  labelsSent = 0;
  readonly #options: LdpSessionOptions;
  readonly #events: LdpSessionEvents;
  readonly #stream: LdpStream;
  readonly #writer = new MessageWriter();
  #input: Uint8Array = new Uint8Array(0);
  #now = 0;
  #messageId = 0;
  #holdMs = initialHoldMs;
  #keepaliveMs = never;
  #holdAt = never;
  #keepaliveAt = never;
  #next: number;

  constructor(stream: LdpStream, options: LdpSessionOptions, events: LdpSessionEvents) {
    this.#stream = stream;
    this.#options = options;
    this.#events = events;
    this.#next = options.isAnnouncing ? 0 : options.bindings.count;
  }

  /** TCP is established. */
  opened(now: number): void {
    if (this.state !== 'connecting') return;
    this.#now = now;
    this.state = 'initialized';
    this.#holdAt = now + initialHoldMs;
    if (this.#options.isActive) this.#sendInitialization();
  }

  received(bytes: Uint8Array, now: number): void {
    if (this.state === 'closed') return;
    this.#now = now;
    const all = this.#input.length === 0 ? bytes : joined(this.#input, bytes);
    try {
      this.#input = this.#read(all).slice();
    } catch (error) {
      if (!(error instanceof LdpError)) throw error;
      this.fail(error.status, now);
    }
  }

  /** TCP has ended. */
  closed(now: number, cause: string | undefined): void {
    this.#end(cause === undefined ? 'connection closed by the neighbour' : `connection failed: ${cause}`, now);
  }

  advance(now: number): void {
    this.#now = now;
    if (now >= this.#holdAt) this.fail(ldpStatus.keepaliveExpired, now);
    else if (now >= this.#keepaliveAt) this.#send(ldpType.keepalive);
  }

  /** The connection takes more data. */
  onRoom(): void {
    if (this.state !== 'operational') return;
    this.#announce();
    this.#events.onRoom();
  }

  /** Writes the messages of `next` until there are none; false: the connection has to take these before there is room. */
  sendSeries(next: () => LdpDraft | undefined): boolean {
    if (this.state !== 'operational') return true;
    const writer = this.#writer.clear();
    let draft = next();
    while (draft !== undefined && writer.length < batchBytes) {
      const start = writer.length;
      this.#writePdu(writer, () => {
        while (draft !== undefined && writer.length - start < maxLdpPdu - draftBytes) {
          const { type, write } = draft;
          this.#events.onMessage('tx');
          writeLdpMessage(writer, type, ++this.#messageId, () => write(writer));
          draft = writer.length < batchBytes ? next() : undefined;
        }
      });
    }
    const isFull = writer.length >= batchBytes;
    if (writer.length > 0) this.#write(writer.take());
    return !isFull;
  }

  announce(): void {
    this.#next = 0;
    this.labelsSent = 0;
    this.onRoom();
  }

  withdraw(): void {
    this.#next = this.#options.bindings.count;
    this.labelsSent = 0;
    if (this.state === 'operational') this.#send(ldpType.labelWithdraw, (writer) => writeWildcardFec(writer));
  }

  /** Sends a notification and closes. */
  fail(status: number, now: number): void {
    if (this.state === 'closed') return;
    if (this.state !== 'connecting') this.#notify(status, true);
    this.#end(`sent ${describeLdpStatus(status)}`, now);
    this.#stream.close();
  }

  /** Closes without a word. */
  drop(reason: string, now: number): void {
    if (this.state === 'closed') return;
    this.#end(reason, now);
    this.#stream.close();
  }

  /** Handles all whole PDUs and returns the rest. */
  #read(bytes: Uint8Array): Uint8Array {
    let at = 0;
    for (;;) {
      const rest = bytes.subarray(at);
      const length = this.state === 'closed' ? 0 : ldpPduLength(rest);
      if (length === 0 || length > rest.length) return rest;
      const pdu = parsePdu(rest.subarray(0, length), (error) => this.#notify(error.status, false));
      if (pdu.lsrId !== this.#options.peerLsrId) throw new LdpError(ldpStatus.badIdentifier);
      this.#holdAt = this.#now + this.#holdMs;
      for (const message of pdu.messages) this.#take(message);
      at += length;
    }
  }

  #take(message: LdpMessage): void {
    if (this.state === 'closed') return;
    this.#events.onMessage('rx');
    try {
      if (message.type === ldpType.notification) this.#takeNotification(message);
      else if (this.state === 'operational') this.#takeOperational(message);
      else this.#takeEarly(message);
    } catch (error) {
      if (!(error instanceof LdpError) || error.isFatal) throw error;
      this.#notify(error.status, false, message);
    }
  }

  #takeEarly(message: LdpMessage): void {
    const { isActive } = this.#options;
    if (this.state === 'initialized' && message.type === ldpType.initialization) {
      this.#agree(requireTlv(message, ldpTlv.sessionParameters, 14));
      if (!isActive) this.#sendInitialization();
      this.#send(ldpType.keepalive);
      this.state = 'openReceived';
    } else if (this.state === 'openReceived' && message.type === ldpType.keepalive) {
      this.state = 'operational';
      this.#events.onOperational(this.#now);
      this.#sendAddress();
      this.onRoom();
    } else throw new LdpError(ldpStatus.shutdown);
  }

  #sendAddress(): void {
    const address = bytesOfAddress(this.#options.address);
    const family = address.length === 4 ? ldpFamily.ipv4 : ldpFamily.ipv6;
    this.#send(ldpType.address, (writer) => writeTlv(writer, ldpTlv.addresses, () => writer.u16(family).copy(address)));
  }

  /** Both sides use the shorter time, and labels are given out without being asked for. */
  #agree(parameters: DataView): void {
    const { holdSec, keepaliveMs } = this.#options;
    const peerSec = parameters.getUint16(2);
    if (parameters.getUint16(0) !== 1) throw new LdpError(ldpStatus.badVersion);
    if (peerSec === 0) throw new LdpError(ldpStatus.badKeepaliveTime);
    if ((parameters.getUint16(4) & onDemandBit) !== 0) throw new LdpError(ldpStatus.advertisementMode);
    if (parameters.getUint32(8) !== this.#options.lsrId) throw new LdpError(ldpStatus.noHello);
    this.#holdMs = Math.min(holdSec, peerSec) * 1000;
    this.#keepaliveMs = Math.min(keepaliveMs, this.#holdMs / 3);
    this.#holdAt = this.#now + this.#holdMs;
  }

  #takeOperational(message: LdpMessage): void {
    const { labelMapping, labelRequest, labelWithdraw, initialization } = ldpType;
    if (message.type === initialization) throw new LdpError(ldpStatus.shutdown);
    if (this.#events.take(message)) {
      if (message.type === labelWithdraw) this.#release(message);
      return;
    }
    if (message.type === labelMapping) this.#takeMapping(message);
    else if (message.type === labelWithdraw) this.#takeWithdraw(message);
    else if (message.type === labelRequest) this.#takeRequest(message);
  }

  #takeMapping(message: LdpMessage): void {
    const label = requireTlv(message, ldpTlv.label, 4).getUint32(0) & 0xfffff;
    for (const fec of parseFecs(requireTlv(message, ldpTlv.fec, 1))) {
      if (fec.kind !== 'prefix') throw new LdpError(ldpStatus.unknownFec);
      this.#events.onLabel('prefixesReceived');
      this.labels.set(fec.prefix, label);
    }
  }

  /** Labels that are withdrawn are released (RFC 5036, section 3.5.10). */
  #takeWithdraw(message: LdpMessage): void {
    const label = findTlv(message, ldpTlv.label, 4)?.getUint32(0);
    for (const fec of parseFecs(requireTlv(message, ldpTlv.fec, 1))) this.#forget(fec, label);
    this.#release(message);
  }

  #release(message: LdpMessage): void {
    const value = requireTlv(message, ldpTlv.fec, 1);
    const label = findTlv(message, ldpTlv.label, 4)?.getUint32(0);
    this.#send(ldpType.labelRelease, (writer) => {
      const fecs = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      writeTlv(writer, ldpTlv.fec, () => writer.copy(fecs));
      if (label !== undefined) writeTlv(writer, ldpTlv.label, () => writer.u32(label));
    });
  }

  #forget(fec: Fec, label: number | undefined): void {
    if (fec.kind === 'prefix') {
      this.labels.delete(fec.prefix);
      return;
    }
    for (const [prefix, own] of this.labels) {
      const family = prefix.includes(':') ? 2 : 1;
      if ((label === undefined || own === label) && (fec.family ?? family) === family) this.labels.delete(prefix);
    }
  }

  #takeRequest(message: LdpMessage): void {
    for (const fec of parseFecs(requireTlv(message, ldpTlv.fec, 1))) {
      if (fec.kind === 'wildcard') {
        this.announce();
        continue;
      }
      const binding = this.#options.bindings.find(fec.prefix);
      if (binding === undefined) throw new LdpError(ldpStatus.noRoute);
      this.#send(ldpType.labelMapping, (writer) => {
        writeMapping(writer, binding);
        writeTlv(writer, ldpTlv.requestId, () => writer.u32(message.id));
      });
    }
  }

  #takeNotification(message: LdpMessage): void {
    const status = requireTlv(message, ldpTlv.status, 10).getUint32(0);
    if ((status & fatalBit) === 0) {
      this.#events.take(message);
      return;
    }
    this.#end(`received ${describeLdpStatus(status & 0x3fffffff)}`, this.#now);
    this.#stream.close();
  }

  #sendInitialization(): void {
    const { holdSec, peerLsrId } = this.#options;
    this.#send(ldpType.initialization, (writer) => {
      writeTlv(writer, ldpTlv.sessionParameters, () =>
        writer.u16(1).u16(holdSec).u8(0).u8(0).u16(0).u32(peerLsrId).u16(0),
      );
      for (const type of [ldpTlv.typedWildcard, ...this.#options.capabilities])
        writeTlv(writer, type | 0x8000, () => writer.u8(0x80));
    });
  }

  /** Writes a part of the mappings; more follow when the connection has room. */
  #announce(): void {
    const { bindings } = this.#options;
    if (this.#next >= bindings.count) return;
    const writer = this.#writer.clear();
    while (this.#next < bindings.count && writer.length < batchBytes) {
      const start = writer.length;
      this.#writePdu(writer, () => {
        while (this.#next < bindings.count && writer.length - start < maxLdpPdu - mappingBytes) {
          const binding = bindings.at(this.#next++);
          this.labelsSent++;
          this.#events.onMessage('tx');
          writeLdpMessage(writer, ldpType.labelMapping, ++this.#messageId, () => writeMapping(writer, binding));
          this.#events.onLabel('prefixesSent');
        }
      });
    }
    this.#write(writer.take());
  }

  #notify(status: number, isFatal: boolean, about?: LdpMessage): void {
    this.#send(ldpType.notification, (writer) =>
      writeTlv(writer, ldpTlv.status, () =>
        writer
          .u32(status | (isFatal ? fatalBit : 0))
          .u32(about?.id ?? 0)
          .u16(about?.type ?? 0),
      ),
    );
  }

  #send(type: number, write: (writer: MessageWriter) => void = () => {}): void {
    if (this.state === 'closed') return;
    this.#events.onMessage('tx');
    const writer = this.#writer.clear();
    this.#writePdu(writer, () => writeLdpMessage(writer, type, ++this.#messageId, () => write(writer)));
    this.#write(writer.take());
  }

  #writePdu(writer: MessageWriter, write: () => void): void {
    writePdu(writer, this.#options.lsrId, write);
  }

  #write(bytes: Uint8Array): void {
    this.#keepaliveAt = this.#now + this.#keepaliveMs;
    this.#stream.write(bytes);
  }

  #end(reason: string, now: number): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#holdAt = never;
    this.#keepaliveAt = never;
    this.labels.clear();
    this.#events.onClosed(reason, now);
  }
}

const joined = (before: Uint8Array, after: Uint8Array): Uint8Array => {
  const all = new Uint8Array(before.length + after.length);
  all.set(before);
  all.set(after, before.length);
  return all;
};
