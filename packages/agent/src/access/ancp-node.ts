import { connect, type Socket } from 'node:net';
import { AncpPeer } from '@rushhour/wire';
import { ancpInstance, lineReportOf } from './ancp-lines.ts';
import type { AccessLineProfile } from './options/access-profiles.ts';

const tickMs = 10;
/** Lines that are reported in one tick, so that the gateway is not flooded at once. */
const reportsPerTick = 500;
const reconnectMs = 1000;
const lineState = { unknown: 0, down: 1, up: 2 } as const;

/** The access node of an entry: it tells the gateway by ANCP which lines are up, through the machine's own addresses. */
export class AncpNode {
  readonly counters = { sent: 0, received: 0, timeouts: 0 };
  /** Lines that were reported to be up. */
  linesUp = 0;
  /** Reports that a line has gone up or down. */
  changes = 0;
  /** Why there is no adjacency. */
  lastError = '';
  readonly #profile: AccessLineProfile;
  readonly #name: Uint8Array;
  readonly #wanted: Uint8Array;
  readonly #reported: Uint8Array;
  #peer: AncpPeer | undefined;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #connectMs = 0;
  #isDue = false;

  constructor(profile: AccessLineProfile, name: Uint8Array, lines: number) {
    this.#profile = profile;
    this.#name = name;
    this.#wanted = new Uint8Array(lines).fill(lineState.up);
    this.#reported = new Uint8Array(lines);
  }

  get isReady(): boolean {
    return this.#peer?.isReady ?? false;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#tick(performance.now()), tickMs);
  }

  /** The link of lines has come up or gone down. */
  setLines(first: number, count: number, isUp: boolean): void {
    this.#wanted.fill(isUp ? lineState.up : lineState.down, first, first + count);
    this.#isDue = true;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket?.destroy();
  }

  #tick(nowMs: number): void {
    if (this.#socket === undefined && nowMs >= this.#connectMs) this.#connect();
    this.#peer?.advance(nowMs);
    if (this.#isDue && this.isReady && !this.#socket?.writableNeedDrain) this.#report();
  }

  #connect(): void {
    const { peerAddress: host, port, keepaliveSec } = this.#profile.ancp;
    const socket = connect({ host, port, noDelay: true });
    const peer = new AncpPeer({
      ...{ name: this.#name, port: 0, isMaster: false, timerMs: keepaliveSec * 1000, instance: ancpInstance() },
      send: (bytes) => void socket.write(bytes),
      onBroken: (reason) => {
        this.lastError = reason;
        socket.destroy();
      },
      onUp: () => {
        this.lastError = '';
        this.#isDue = true;
      },
      onLine: () => {},
    });
    this.#socket = socket;
    this.#peer = peer;
    socket.once('connect', () => peer.begin(performance.now()));
    socket.on('data', (bytes) => peer.receive(bytes));
    socket.on('error', ({ message }) => {
      this.lastError = message;
    });
    socket.once('close', () => this.#closed(peer));
  }

  /** What the gateway knew is void. */
  #closed(peer: AncpPeer): void {
    const { sent, received, timeouts } = this.totals(peer);
    Object.assign(this.counters, { sent, received, timeouts });
    this.#peer = undefined;
    this.#socket = undefined;
    this.#connectMs = performance.now() + reconnectMs;
    this.#reported.fill(lineState.unknown);
    this.linesUp = 0;
  }

  /** Messages of all connections. */
  totals(peer: AncpPeer | undefined = this.#peer): typeof this.counters {
    const { sent = 0, received = 0, timeouts = 0 } = peer?.counters ?? {};
    const { counters } = this;
    return {
      sent: counters.sent + sent,
      received: counters.received + received,
      timeouts: counters.timeouts + timeouts,
    };
  }

  #report(): void {
    let left = reportsPerTick;
    for (let line = 0; line < this.#wanted.length; line++) {
      const wanted = this.#wanted[line] as number;
      const reported = this.#reported[line] as number;
      // A line that was never up is not said to be down.
      if (wanted === reported || (reported === lineState.unknown && wanted === lineState.down)) continue;
      if (left-- === 0) return;
      this.#reported[line] = wanted;
      const isUp = wanted === lineState.up;
      this.linesUp += isUp ? 1 : -1;
      this.changes++;
      this.#peer?.report(lineReportOf(this.#profile.line, line, isUp));
    }
    this.#isDue = false;
  }
}
