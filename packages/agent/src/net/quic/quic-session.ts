import { scratch } from '../kernel/memory.ts';
import { requireOpenssl } from '../openssl/library.ts';
import type { HandshakeFacts } from '../transport/transport.ts';
import { type CloseReason, closeReasonOf } from './close-reason.ts';
import { type Polled, type PollSet, pollEvent } from './poll-set.ts';
import type { QuicConnection, QuicConnectionEvents, QuicStream, QuicStreamEvents } from './quic.ts';
import { OpensslStream, type StreamOwner } from './quic-stream.ts';

const openFlag = { unidirectional: 1 } as const;
const doesNotBlock = 1;
const bidirectional = 3;
/** At once, without waiting for the peer or for data on its way. */
const shutdownFlags = 1 | 2 | 4;
const acceptsStreams = 1;
const noDefaultStream = 0;
/** A generic value: events are handled only when asked for. */
const [eventMode, explicit] = [6, 2] as const;
/** Writes may be taken in part, and repeated from other memory. Accepted connections do not inherit it. */
const [setMode, partialWrites] = [33, 0x1 | 0x2] as const;

/** Events of an open connection. */
const awaited = pollEvent.closed | pollEvent.stream | pollEvent.uniStream;

/** Signs that the handshake is done. A peer may allow no streams at all, as clients of DNS do: then it opens the first. */
const beginsBy = pollEvent.canOpenUni | pollEvent.canOpen | pollEvent.stream | pollEvent.uniStream;

/** What a connection needs of the socket it uses. */
export interface SessionHost {
  readonly set: PollSet;
  touch(): void;
  /** Sends what OpenSSL has written. */
  drain(): void;
  onEnd(session: QuicSession, reason: CloseReason): void;
}

/** A connection by OpenSSL, of either side. */
export class QuicSession implements QuicConnection, Polled, StreamOwner {
  ssl: number;
  pollIndex = -1;
  events!: QuicConnectionEvents;
  isOpen = false;
  readonly #host: SessionHost;
  readonly #openssl = requireOpenssl();
  readonly #streams = new Set<OpensslStream>();
  #facts: HandshakeFacts | undefined;

  constructor(ssl: number, host: SessionHost) {
    this.ssl = ssl;
    this.#host = host;
    const openssl = this.#openssl;
    openssl.SSL_set_default_stream_mode(ssl, noDefaultStream);
    openssl.SSL_set_incoming_stream_policy(ssl, acceptsStreams, 0);
    openssl.SSL_ctrl(ssl, setMode, partialWrites, 0);
    openssl.SSL_set_value_uint(ssl, 0, eventMode, explicit);
    openssl.ERR_clear_error();
    host.set.add(this, pollEvent.closed | beginsBy);
  }

  get set(): PollSet {
    return this.#host.set;
  }

  touch(): void {
    this.#host.touch();
  }

  openStream(isUnidirectional: boolean, events: QuicStreamEvents): QuicStream | undefined {
    if (!this.isOpen) return undefined;
    const ssl = this.#openssl.SSL_new_stream(this.ssl, isUnidirectional ? openFlag.unidirectional : 0);
    if (ssl === 0) {
      this.#openssl.ERR_clear_error();
      this.set.await(this, awaited | pollEvent.canOpen);
      return undefined;
    }
    return this.#add(ssl, { reads: !isUnidirectional, writes: true }, events);
  }

  handshake(): HandshakeFacts {
    this.#facts ??= this.#readFacts();
    return this.#facts;
  }

  close(code: number): void {
    if (this.ssl === 0) return;
    const memory = scratch();
    memory.bytes.writeBigUInt64LE(BigInt(code), 0);
    memory.bytes.writeBigUInt64LE(0n, 8);
    this.#openssl.SSL_shutdown_ex(this.ssl, shutdownFlags, memory.addressOf(0, 16), 16);
    this.#openssl.ERR_clear_error();
    this.end({ code: undefined, isLocal: true });
  }

  forget(stream: OpensslStream): void {
    this.#streams.delete(stream);
  }

  onRead(now: number): void {
    this.events.onRead?.(now);
  }

  onReady(events: number, now: number): void {
    if (!this.isOpen && (events & beginsBy) !== 0) this.opened(now);
    else if ((events & pollEvent.canOpen) !== 0) {
      this.set.await(this, awaited);
      this.events.onRoom?.(now);
    }
    if ((events & (pollEvent.stream | pollEvent.uniStream)) !== 0) this.#accept(now);
    if ((events & pollEvent.closed) !== 0) this.end(closeReasonOf(this.ssl));
  }

  opened(now: number): void {
    if (this.isOpen || this.ssl === 0) return;
    this.isOpen = true;
    this.set.await(this, awaited);
    this.events.onOpen(now);
    // Streams may have arrived before.
    this.touch();
  }

  /** Frees everything and tells it. */
  end(reason: CloseReason): void {
    if (this.ssl === 0) return;
    // Sends the packet that tells the peer.
    if (reason.isLocal) {
      this.#openssl.SSL_handle_events(this.ssl);
      // What is freed with the session would be lost.
      this.#host.drain();
    }
    for (const stream of [...this.#streams]) stream.free();
    this.#streams.clear();
    this.set.remove(this);
    this.#openssl.SSL_free(this.ssl);
    this.ssl = 0;
    this.#host.onEnd(this, reason);
  }

  #accept(now: number): void {
    this.onRead(now);
    while (this.ssl !== 0) {
      const ssl = this.#openssl.SSL_accept_stream(this.ssl, doesNotBlock);
      if (ssl === 0) break;
      const isUnidirectional = this.#openssl.SSL_get_stream_type(ssl) !== bidirectional;
      const stream = this.#add(ssl, { reads: true, writes: !isUnidirectional }, undefined);
      stream.events = this.events.onStream(stream, isUnidirectional);
      stream.read();
    }
    this.#openssl.ERR_clear_error();
  }

  #add(
    ssl: number,
    direction: { readonly reads: boolean; readonly writes: boolean },
    events: QuicStreamEvents | undefined,
  ): OpensslStream {
    const stream = new OpensslStream(ssl, this, direction);
    if (events !== undefined) stream.events = events;
    this.#streams.add(stream);
    return stream;
  }

  #readFacts(): HandshakeFacts {
    const openssl = this.#openssl;
    const memory = scratch();
    memory.bytes.fill(0, 0, 16);
    openssl.SSL_get0_alpn_selected(this.ssl, memory.addressOf(0, 8), memory.addressOf(8, 4));
    const [address, length] = [Number(memory.bytes.readBigUInt64LE(0)), memory.bytes.readUInt32LE(8)];
    const cipher = openssl.SSL_get_current_cipher(this.ssl);
    return {
      version: 'TLSv1.3',
      cipher: (cipher === 0 ? undefined : openssl.SSL_CIPHER_get_name(cipher)) ?? '',
      group: openssl.SSL_get0_group_name(this.ssl) ?? undefined,
      alpn: length === 0 ? undefined : Buffer.from(openssl.view(address, length)).toString('latin1'),
      isResumed: openssl.SSL_session_reused(this.ssl) === 1,
    };
  }
}
