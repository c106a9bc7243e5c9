import { createServer, type Server, type Socket } from 'node:net';
import type { ResultRow } from '@rushhour/protocol';
import { AncpPeer, ancpTechnology, type LineReport } from '@rushhour/wire';
import { ancpInstance } from './ancp-lines.ts';
import type { AccessLineProfile } from './options/access-profiles.ts';

const tickMs = 100;
const maxNodes = 64;
const maxLines = 1_000_000;
/** Rows of lines come after those of links. */
const firstRow = 1024;

interface Line {
  readonly index: number;
  readonly node: string;
  report: LineReport;
  state: 'up' | 'down' | 'unknown';
}

const decoder = new TextDecoder();
const technologyNames = new Map<number, string>(Object.entries(ancpTechnology).map(([name, code]) => [code, name]));

/** The gateway's end of ANCP: access nodes call it and tell which lines are up. */
export class AncpServer {
  readonly counters = { sent: 0, received: 0, timeouts: 0 };
  linesUp = 0;
  /** Lines that have gone up or down. */
  changes = 0;
  readonly #profile: AccessLineProfile['ancp'];
  readonly #name: Uint8Array;
  readonly #nodes = new Map<Socket, AncpPeer>();
  readonly #lines = new Map<string, Line>();
  readonly #changed = new Set<Line>();
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(profile: AccessLineProfile['ancp'], name: Uint8Array) {
    this.#profile = profile;
    this.#name = name;
  }

  /** Waits for access nodes at every address of the machine. */
  async open(): Promise<void> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(this.#profile.port, () => resolve());
    await promise;
    this.#server = server;
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      for (const peer of this.#nodes.values()) peer.advance(nowMs);
    }, tickMs);
  }

  /** Rows of lines that have changed since the last call. */
  takeRows(): ResultRow[] {
    const rows = [...this.#changed].map(rowOf);
    this.#changed.clear();
    return rows;
  }

  totals(): typeof this.counters {
    const all = [this.counters, ...this.#nodes.values().map(({ counters }) => counters)];
    const sumOf = (name: keyof typeof this.counters) => all.reduce((sum, counters) => sum + counters[name], 0);
    return { sent: sumOf('sent'), received: sumOf('received'), timeouts: sumOf('timeouts') };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#server?.close();
    for (const socket of this.#nodes.keys()) socket.destroy();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#nodes.size >= maxNodes) {
      socket.destroy();
      return;
    }
    const node = socket.remoteAddress?.replace('::ffff:', '') ?? '';
    const peer = new AncpPeer({
      ...{ name: this.#name, port: 0, isMaster: true, instance: ancpInstance() },
      timerMs: this.#profile.keepaliveSec * 1000,
      send: (bytes) => void socket.write(bytes),
      onBroken: () => void socket.destroy(),
      onUp: () => {},
      onLine: (report) => this.#onLine(node, report),
    });
    this.#nodes.set(socket, peer);
    peer.begin(performance.now());
    socket.on('data', (bytes) => peer.receive(bytes));
    socket.once('close', () => this.#closed(socket, peer, node));
  }

  #closed(socket: Socket, peer: AncpPeer, node: string): void {
    const { sent, received, timeouts } = peer.counters;
    this.counters.sent += sent;
    this.counters.received += received;
    this.counters.timeouts += timeouts;
    this.#nodes.delete(socket);
    for (const line of this.#lines.values()) if (line.node === node) this.#setState(line, 'unknown');
  }

  #onLine(node: string, report: LineReport): void {
    const key = `${node} ${decoder.decode(report.circuitId)}`;
    let line = this.#lines.get(key);
    if (line === undefined) {
      if (this.#lines.size >= maxLines) return;
      line = { index: this.#lines.size, node, report, state: 'unknown' };
      this.#lines.set(key, line);
    }
    line.report = report;
    this.#setState(line, report.isUp ? 'up' : 'down');
  }

  #setState(line: Line, state: Line['state']): void {
    if (line.state === state) return;
    if (state === 'up') this.linesUp++;
    else if (line.state === 'up') this.linesUp--;
    line.state = state;
    this.changes++;
    this.#changed.add(line);
  }
}

const rowOf = ({ index, node, state, report }: Line): ResultRow => ({
  index: firstRow + index,
  state,
  cells: {
    circuitId: decoder.decode(report.circuitId).slice(0, 200),
    remoteId: decoder.decode(report.remoteId).slice(0, 200),
    upstreamKbps: report.upstreamKbps,
    downstreamKbps: report.downstreamKbps,
    technology: technologyNames.get(report.technology) ?? `${report.technology}`,
    accessNode: node,
  },
});
