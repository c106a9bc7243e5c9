import type { AttackListen, Attempt, FileExchange } from '@rushhour/protocol';
import type { ServedSocket } from '../../../../net/secure-sockets.ts';
import type { AttackListener, ServerContext, ServerOutcome } from '../../driver.ts';
import { hashOfBytes, proofOf, tokenOf } from '../../proof.ts';
import { listenConnections, plainIp } from '../listen-connections.ts';

/** Protocol logic of one connection. */
export interface LineSession {
  readonly greeting?: string;
  /** Handles a line; the returned reply is sent with CR LF. */
  onLine(line: string, connection: LineConnection): string | undefined | Promise<string | undefined>;
  onClose?(): void;
}

const maxLineBytes = 65_536;
const maxBytes = 300 * 1024 * 1024;
type Taking = { readonly ending: Buffer } | { readonly length: number };

/** A server connection of a line-based protocol with data blocks. Reports its outcome once. */
export class LineConnection {
  readonly socket: ServedSocket;
  readonly #context: ServerContext;
  readonly #session: LineSession;
  readonly #ends: Pick<ServerOutcome, 'ip' | 'port' | 'peerIp' | 'peerPort'>;
  #held: Buffer = Buffer.alloc(0);
  #taking: (Taking & { resolve(bytes: Buffer): void }) | undefined;
  #isBusy = false;
  #isReported = false;
  #isSilent = false;
  #end: ServerOutcome['end'] = 'none';
  /** The attempt of this connection, once identified. */
  attempt: Attempt | undefined;
  /** The file as far as received. */
  received: Buffer | undefined;
  /** Bytes the client must receive unchanged: the file or the last reply. */
  sent: Buffer = Buffer.alloc(0);

  constructor(socket: ServedSocket, session: LineSession, context: ServerContext) {
    this.socket = socket;
    this.#session = session;
    this.#context = context;
    const { localAddress, localPort = 0, remoteAddress, remotePort = 0 } = socket;
    this.#ends = {
      ...{ ip: plainIp(localAddress), port: localPort },
      ...{ peerIp: plainIp(remoteAddress), peerPort: remotePort },
    };
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', () => {
      this.#end = 'reset';
    });
    socket.on('end', () => {
      if (this.#end === 'none') this.#end = 'fin';
      socket.end();
    });
    socket.on('close', () => {
      session.onClose?.();
      this.report();
    });
    if (session.greeting !== undefined) this.sendLine(session.greeting);
  }

  sendLine(line: string): void {
    if (this.socket.writable) this.socket.write(`${line}\r\n`, 'latin1');
  }

  /** Sets the attempt of a token; true when it is a file transfer of this entry. */
  identify(token: string): boolean {
    const found = this.#context.attemptOf(token)?.attempt;
    if (found === undefined || !('direction' in found.exchange)) return false;
    this.attempt = found;
    return true;
  }

  get exchange(): FileExchange | undefined {
    return this.attempt?.exchange as FileExchange | undefined;
  }

  get content(): Buffer {
    return this.exchange === undefined ? Buffer.alloc(0) : this.#context.bytesOf(this.exchange.content);
  }

  /** Proof of the attempt. */
  get proof(): string {
    return this.attempt === undefined ? '' : this.proofFor(tokenOf(this.#context.runToken, this.attempt.id));
  }

  proofFor(text: string): string {
    return proofOf(this.#context.proofKey, text);
  }

  /** The next bytes up to `ending`, or `length` bytes. */
  take(taking: Taking): Promise<Buffer> {
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    this.#taking = { ...taking, resolve };
    this.#serve();
    return promise;
  }

  /** Control exchanges are not reported as attempts. */
  skipReport(): void {
    this.#isSilent = true;
  }

  report(): void {
    if (this.#isReported || this.#isSilent) return;
    this.#isReported = true;
    const { seen, rx } = this.#outcome();
    this.#context.record({
      attempt: this.attempt?.id ?? null,
      step: 0,
      correlation: this.attempt === undefined ? 'none' : 'token',
      ...this.#ends,
      seen,
      rxBytes: rx.length,
      rxSha256: hashOfBytes(rx),
      sentBytes: this.sent.length,
      sentSha256: hashOfBytes(this.sent),
      end: this.#end,
      atMs: this.#context.elapsedMs(),
    });
  }

  #outcome(): { seen: ServerOutcome['seen']; rx: Buffer } {
    const { exchange, received } = this;
    if (exchange === undefined || received === undefined) return { seen: 'connected', rx: Buffer.alloc(0) };
    const wanted = exchange.direction === 'up' ? this.content : Buffer.from(exchange.name);
    if (received.equals(wanted)) return { seen: 'full', rx: received };
    const isStart = received.length < wanted.length && wanted.subarray(0, received.length).equals(received);
    return { seen: isStart ? 'partial' : 'modified', rx: received };
  }

  #take(bytes: Buffer): void {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    if (this.#held.length > maxBytes) this.socket.destroy();
    else this.#serve();
  }

  #serve(): void {
    if (this.#taking !== undefined) {
      const { resolve } = this.#taking;
      const length = this.#lengthOf(this.#taking);
      if (length === undefined) return;
      this.#taking = undefined;
      resolve(this.#cut(length));
      return;
    }
    if (this.#isBusy) return;
    const at = this.#held.indexOf('\n');
    if (at < 0 && this.#held.length > maxLineBytes) this.socket.destroy();
    if (at >= 0)
      void this.#answer(
        this.#cut(at + 1)
          .toString('latin1')
          .trimEnd(),
      );
  }

  async #answer(line: string): Promise<void> {
    this.#isBusy = true;
    const reply = await this.#session.onLine(line, this);
    if (reply !== undefined) this.sendLine(reply);
    this.#isBusy = false;
    this.#serve();
  }

  #lengthOf(taking: Taking): number | undefined {
    if ('length' in taking) return this.#held.length >= taking.length ? taking.length : undefined;
    const at = this.#held.indexOf(taking.ending);
    return at < 0 ? undefined : at + taking.ending.length;
  }

  #cut(length: number): Buffer {
    const cut = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return cut;
  }
}

/** Listens for a line-based protocol. */
export const listenLines = (
  endpoint: AttackListen,
  context: ServerContext,
  createSession: (socket: ServedSocket) => LineSession,
): Promise<AttackListener> =>
  listenConnections(endpoint, context, (socket) => new LineConnection(socket, createSession(socket), context));

/** The nonce of a user name that requests a proof. */
export const nonceOfName = (name: string): string | undefined => /^proof-([0-9a-f]{32})$/.exec(name)?.[1];
