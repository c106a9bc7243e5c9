import type { Chunk, Connection, ConnectionEvents, HandshakeFacts, Message } from '../transport/transport.ts';
import { alertName, alertOfReason, plainAlertIn, verifyFailure } from './alerts.ts';
import { handshakeMemory } from './handshake-memory.ts';
import type { OnKeyLine } from './key-log.ts';
import { requireOpenssl } from './library.ts';
import type { TlsContext } from './tls-context.ts';
import { plainBytes, type TlsPipes } from './tls-pipes.ts';

const failure = { wantRead: 2, wantWrite: 3, zeroReturn: 6 } as const;
const libraryOfTls = 20;
const firstAlertReason = 1000;
const closeNotify = 0;
/** Encrypted at once; the output of a thread is as large as a few of these. */
const writeBytes = 262_144;

/** Reports on the sessions of its connections. */
export interface TlsObserver {
  /** On a server: the handshake of a client has failed. */
  readonly onHandshakeError?: ((code: string) => void) | undefined;
  /** An alert by number. */
  readonly onAlert?: ((direction: 'sent' | 'received', alert: number) => void) | undefined;
  /** On a client: what became of the data in its first flight. */
  readonly onEarlyData?: ((isAccepted: boolean) => void) | undefined;
  /** A secret of a session; where captures are to be decrypted. */
  readonly onKeyLine?: OnKeyLine | undefined;
}

export interface TlsConnectionDeps extends TlsObserver {
  readonly pipes: TlsPipes;
  readonly context: TlsContext;
}

type Phase = 'handshake' | 'early' | 'open' | 'failed' | 'freed';

/** A TLS session over a connection of any transport. */
export abstract class TlsConnection implements Connection, ConnectionEvents {
  protected readonly deps: TlsConnectionDeps;
  protected readonly openssl = requireOpenssl();
  protected phase: Phase = 'handshake';
  /** 0 once it is freed. */
  protected session: number;
  inner!: Connection;
  events!: ConnectionEvents;
  onSent?: (now: number) => void;
  #isClosing = false;
  /** It was closed before the rest of the handshake. */
  #closesWhenOpen = false;
  #hasEnded = false;
  #code: string | undefined;
  #waiting: readonly Message[] | undefined;
  readonly #chunk: { readonly bytes: Buffer; readonly start: number; end: number; now: number };

  constructor(deps: TlsConnectionDeps) {
    const { pipes, context } = deps;
    this.deps = deps;
    this.session = this.openssl.SSL_new(context.address);
    this.openssl.BIO_up_ref(pipes.input);
    this.openssl.BIO_up_ref(pipes.output);
    this.openssl.SSL_set_bio(this.session, pipes.input, pipes.output);
    this.#chunk = { bytes: pipes.plain.bytes, start: 0, end: 0, now: 0 };
  }

  /** It has ended by an error of TLS; what OpenSSL has written about it is on its way. */
  get hasFailed(): boolean {
    return this.phase === 'failed';
  }

  abstract onOpen(now: number): void;
  /** The handshake is done. */
  protected abstract opened(now: number): void;
  /** A record was read; tickets may have come before its data. */
  protected afterRead(): void {}

  onData(chunk: Chunk): void {
    const { bytes, start, end, now, address } = chunk;
    if (this.phase === 'failed') this.inner.reset();
    if (address !== undefined) this.#receive(address, end - start, now);
    else {
      for (let at = start; at < end; at += plainBytes) {
        const to = Math.min(end, at + plainBytes);
        this.#receive(this.deps.pipes.copy(bytes, at, to), to - at, now);
      }
    }
  }

  onEnd(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.phase === 'open' && this.events.onEnd !== undefined) this.events.onEnd();
    else if (this.phase === 'early') this.inner.close();
    else this.close();
  }

  onClose(code: string | undefined, now: number): void {
    this.#free();
    // The peer may reset the connection once it has sent its close_notify.
    this.closed(this.#code ?? (this.#hasEnded && code === 'ECONNRESET' ? undefined : code), now);
  }

  protected closed(code: string | undefined, now: number): void {
    this.events.onClose(code, now);
  }

  write(message: Message): void {
    if (this.#isClosing || this.#closesWhenOpen || message.bytes.length === 0) return;
    if (this.phase === 'open') {
      if (this.deps.pipes.gather(this, message.bytes)) return;
      this.#sendGathered();
      if (this.isIn('open')) this.#encrypt(message);
    } else if (this.phase === 'early') this.writeEarly(message);
    else if (this.phase === 'handshake') this.#waiting = [...(this.#waiting ?? []), message];
  }

  writeCopy(bytes: Uint8Array): void {
    this.write({ bytes: this.phase === 'open' ? bytes : new Uint8Array(bytes), address: 0 });
  }

  close(): void {
    if (this.phase === 'early') this.#closesWhenOpen = true;
    if (this.#isClosing || this.#closesWhenOpen) return;
    this.#isClosing = true;
    if (this.phase === 'open') this.#sendGathered();
    if (this.isIn('open')) {
      this.openssl.SSL_shutdown(this.session);
      this.deps.onAlert?.('sent', closeNotify);
      this.flushOutput();
    }
    this.inner.close();
  }

  reset(): void {
    this.inner.reset();
  }

  handshake(): HandshakeFacts {
    const { session } = this;
    return {
      version: this.openssl.SSL_version(session) === 0x303 ? '1.2' : '1.3',
      cipher: this.openssl.SSL_CIPHER_get_name(this.openssl.SSL_get_current_cipher(session)) ?? '',
      group: this.openssl.SSL_get0_group_name(session) ?? undefined,
      alpn: this.alpn(),
      isResumed: this.openssl.SSL_session_reused(session) === 1,
    };
  }

  /** Key material of an open session (RFC 5705). */
  exportKey(label: string, length: number, context: Uint8Array = new Uint8Array(0)): Uint8Array {
    const { plain, plainAddress } = this.deps.pipes;
    const size = Buffer.byteLength(label);
    plain.bytes.set(context, length);
    const [contextAddress, hasContext] = context.length > 0 ? [plainAddress + length, 1] : [0, 0];
    this.openssl.SSL_export_keying_material(
      ...([this.session, plainAddress, length, label, size] as const),
      ...([contextAddress, context.length, hasContext] as const),
    );
    return new Uint8Array(plain.bytes.subarray(0, length));
  }

  protected alpn(): string | undefined {
    const { plain, plainAddress } = this.deps.pipes;
    this.openssl.SSL_get0_alpn_selected(this.session, plainAddress, plainAddress + 8);
    const address = Number(plain.bytes.readBigUInt64LE(0));
    const length = plain.bytes.readUInt32LE(8);
    return address === 0 ? undefined : Buffer.from(this.openssl.view(address, length)).toString('latin1');
  }

  protected flushOutput(): void {
    const { pipes } = this.deps;
    if (pipes.outputLength === 0) return;
    this.inner.writeCopy(pipes.peekOutput());
    pipes.clearOutput();
  }

  /** True once the handshake is done. */
  protected shake(now: number): boolean {
    const result = this.openssl.SSL_do_handshake(this.session);
    if (result !== 1) {
      this.judge(result);
      return false;
    }
    this.flushOutput();
    this.phase = 'open';
    handshakeMemory.handshakeDone();
    this.opened(now);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const message of waiting ?? []) this.write(message);
    if (this.#closesWhenOpen) {
      this.#closesWhenOpen = false;
      this.close();
    }
    return this.isIn('open');
  }

  protected isIn(phase: Phase): boolean {
    return this.phase === phase;
  }

  /** Reads what comes before the rest of the handshake; false if the handshake has to wait. */
  protected receiveEarly(_now: number): boolean {
    return true;
  }

  protected writeEarly(message: Message): boolean {
    const { pipes } = this.deps;
    const { plain, plainAddress } = pipes;
    const length = Math.min(message.bytes.length, plainBytes - 8);
    plain.bytes.set(message.bytes.subarray(0, length), 8);
    const result = this.openssl.SSL_write_early_data(this.session, plainAddress + 8, length, plainAddress);
    if (result !== 1) this.openssl.ERR_clear_error();
    this.flushOutput();
    return result === 1;
  }

  protected deliver(length: number, now: number): void {
    const chunk = this.#chunk;
    chunk.end = length;
    chunk.now = now;
    this.events.onData(chunk);
  }

  /** Decides what a result that is no success means. */
  protected judge(result: number): void {
    const kind = this.openssl.SSL_get_error(this.session, result);
    if (kind === failure.wantRead || kind === failure.wantWrite) {
      this.flushOutput();
    } else if (kind === failure.zeroReturn) {
      this.deps.onAlert?.('received', closeNotify);
      this.onEnd();
    } else this.#fail();
  }

  #free(): void {
    if (this.phase === 'freed') return;
    if (this.phase === 'open') {
      // A session that was not shut down could not be resumed.
      this.openssl.SSL_set_quiet_shutdown(this.session, 1);
      this.openssl.SSL_shutdown(this.session);
    }
    this.phase = 'freed';
    this.openssl.SSL_free(this.session);
    this.session = 0;
  }

  #receive(address: number, length: number, now: number): void {
    const { pipes } = this.deps;
    // A handler further up may be in the middle of the input of another session.
    const [outerAddress, outerLength] = [pipes.inputAddress, pipes.inputLength];
    pipes.setInput(address, length);
    const gathers = pipes.beginGathering(this);
    try {
      this.#decrypt(now);
      if (gathers && this.isIn('open')) this.#sendGathered();
    } finally {
      if (gathers) pipes.endGathering();
    }
    pipes.setInput(outerAddress, outerLength);
  }

  #sendGathered(): void {
    const { pipes } = this.deps;
    const length = pipes.takeGathered(this);
    if (length > 0) this.#sealed(this.openssl.SSL_write(this.session, pipes.gatheredAddress, length));
  }

  #decrypt(now: number): void {
    const { pipes } = this.deps;
    if (this.phase === 'failed' || this.phase === 'freed') return;
    if (this.phase !== 'open' && !(this.receiveEarly(now) && this.shake(now))) return;
    while (pipes.inputLength !== 0 && this.isIn('open') && !this.#hasEnded) {
      const count = this.openssl.SSL_read(this.session, pipes.plainAddress, plainBytes);
      if (pipes.outputLength !== 0) this.flushOutput();
      this.afterRead();
      if (count > 0) this.deliver(count, now);
      else {
        this.judge(count);
        return;
      }
    }
  }

  #encrypt({ bytes, address }: Message): void {
    const { pipes } = this.deps;
    for (let at = 0; at < bytes.length && this.phase === 'open'; ) {
      let count: number;
      if (address !== 0) {
        count = Math.min(writeBytes, bytes.length - at);
        this.#sealed(this.openssl.SSL_write(this.session, address + at, count));
      } else {
        count = Math.min(plainBytes, bytes.length - at);
        this.#sealed(this.openssl.SSL_write(this.session, pipes.copyPlain(bytes, at, at + count), count));
      }
      at += count;
    }
  }

  #sealed(result: number): void {
    if (result > 0) this.flushOutput();
    else this.#fail();
  }

  /** A fatal error: the alert that OpenSSL has written is still sent. */
  #fail(): void {
    const { openssl: library } = this;
    const error = Number(library.ERR_get_error());
    library.ERR_clear_error();
    const reason = error & 0x7fffff;
    const isTls = ((error >>> 23) & 0xff) === libraryOfTls;
    if (isTls && reason >= firstAlertReason) this.#code ??= this.#received(reason - firstAlertReason);
    else this.#code ??= this.#refused(error, isTls ? reason : 0);
    this.phase = 'failed';
    this.#hasEnded = true;
    this.flushOutput();
    this.inner.close();
  }

  #received(alert: number): string {
    this.deps.onAlert?.('received', alert);
    return `alert.${alertName(alert)}`;
  }

  #refused(error: number, reason: number): string {
    const verified = this.openssl.SSL_get_verify_result(this.session);
    const isUnverified = verified !== 0 && reason === 134;
    const { pipes } = this.deps;
    if (pipes.outputLength > 0) {
      const plain = plainAlertIn(pipes.peekOutput());
      const sent = plain >= 0 ? plain : isUnverified ? verifyFailure(verified)[1] : alertOfReason(reason);
      if (sent >= 0) this.deps.onAlert?.('sent', sent);
    }
    if (isUnverified) return verifyFailure(verified)[0];
    const text = this.openssl.ERR_reason_error_string(error) ?? 'error';
    return `ERR_SSL_${text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
  }
}
