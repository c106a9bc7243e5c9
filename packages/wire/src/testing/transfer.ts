import { SummedBytes } from '../bytes/summed-bytes.ts';
import type { CloseCause, TcpConnection, TcpEvents } from '../tcp/connection.ts';
import { defaultTcpSettings, type TcpSettings } from '../tcp/settings.ts';
import type { Tcp } from '../tcp/tcp.ts';
import { keyFor, type SimulatedWire } from './simulated-wire.ts';

export const testSettings = (settings: Partial<TcpSettings> = {}): TcpSettings => ({
  ...defaultTcpSettings,
  ...settings,
});

/** What happened on one end of a connection. */
export class Recorder implements TcpEvents {
  readonly #tcp: Tcp;
  readonly #toSend: Uint8Array;
  readonly #writeSize: number;
  #sent = 0;
  connection: TcpConnection | undefined;
  isOpen = false;
  hasEnded = false;
  isClosed = false;
  cause: CloseCause | undefined;
  received = 0;
  retransmits = 0;
  /** Bytes compared with what the peer should have sent; undefined: not compared. */
  expected: Uint8Array | undefined;
  isDifferent = false;
  onReceived: (connection: TcpConnection) => void = () => {};
  closesWhenSent = true;

  constructor(tcp: Tcp, toSend: Uint8Array, writeSize = 16_384) {
    this.#tcp = tcp;
    this.#toSend = toSend;
    this.#writeSize = writeSize;
  }

  begin(connection: TcpConnection): void {
    this.connection = connection;
    this.isOpen = true;
    this.#push(connection);
  }

  onOpen(connection: TcpConnection): void {
    this.begin(connection);
  }

  onData(connection: TcpConnection, bytes: Uint8Array, start: number, end: number): void {
    if (this.expected !== undefined) {
      for (let i = start; i < end; i++) {
        if (bytes[i] !== this.expected[this.received + i - start]) this.isDifferent = true;
      }
    }
    this.received += end - start;
    this.onReceived(connection);
  }

  onSent(connection: TcpConnection): void {
    this.#push(connection);
  }

  onEnd(connection: TcpConnection): void {
    this.hasEnded = true;
    if (this.#sent === this.#toSend.length) this.#tcp.close(connection);
  }

  onClose(connection: TcpConnection, cause: CloseCause | undefined): void {
    if (this.isClosed) throw new Error('closed twice');
    this.isClosed = true;
    this.cause = cause;
    this.retransmits = connection.retransmits;
    this.connection = undefined;
  }

  #push(connection: TcpConnection): void {
    const next = Math.min(this.#sent + this.#writeSize, this.#toSend.length);
    if (next > this.#sent) {
      // Writes take turns, so that all kinds of pieces are used.
      const kind = Math.floor(this.#sent / this.#writeSize) % 3;
      const bytes = this.#toSend.subarray(this.#sent, next);
      if (kind === 1) this.#sent += this.#tcp.sendCopy(connection, bytes);
      else {
        if (kind === 0) this.#tcp.send(connection, bytes);
        else this.#tcp.sendSummed(connection, new SummedBytes(bytes));
        this.#sent = next;
      }
    }
    if (this.#sent === this.#toSend.length && this.closesWhenSent) this.#tcp.close(connection);
  }
}

export interface Transfer {
  readonly client: Recorder;
  readonly server: Recorder;
}

/** Opens a connection over the wire on which both sides send bytes, compare what they receive and close. */
export const startTransfer = (
  wire: SimulatedWire,
  {
    up,
    down,
    client = {},
    server = {},
    writeSize,
  }: {
    up: Uint8Array;
    down: Uint8Array;
    client?: Partial<TcpSettings>;
    server?: Partial<TcpSettings>;
    writeSize?: number;
  },
): Transfer => {
  const [left, right] = wire.stacks;
  const serverEnd = new Recorder(right, down, writeSize);
  serverEnd.expected = up;
  const clientEnd = new Recorder(left, up, writeSize);
  clientEnd.expected = down;
  right.listen(80, {
    settings: testSettings(server),
    backlog: 16,
    accept: (connection) => {
      serverEnd.begin(connection);
      return serverEnd;
    },
  });
  const connection = left.connect(keyFor(0, 80), { settings: testSettings(client), events: clientEnd, path: 0 });
  if (connection === undefined) throw new Error('no connection');
  clientEnd.connection = connection;
  return { client: clientEnd, server: serverEnd };
};

export const randomBytes = (random: () => number, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => Math.floor(random() * 256));
