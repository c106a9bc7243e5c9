import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ResultRow } from '@rushhour/protocol';
import { OpenFlowFabric, type OpenFlowSwitch, openFlowVersion } from '@rushhour/wire';
import { textOf } from '../options/access-profiles.ts';
import { LinkFlaps } from './link-flaps.ts';
import type { OpenFlowProfile } from './switch-profiles.ts';

const tickMs = 2;
/** Connections that are opened in one tick, so that thousands do not come at once. */
const connectsPerTick = 20;
/** Controllers that may wait for a switch. */
const maxCallers = 64;
const versionNames = new Map<number, string>(Object.entries(openFlowVersion).map(([name, number]) => [number, name]));

/** All versions up to the newest one. */
const versionsUpTo = (newest: OpenFlowProfile['channel']['version']): number[] =>
  Object.values(openFlowVersion).filter((version) => version <= openFlowVersion[newest]);

/** The connections of emulated OpenFlow switches to their controller, through the machine's own addresses. */
export class OpenFlowChannels {
  readonly fabric: OpenFlowFabric;
  readonly #profile: OpenFlowProfile;
  readonly #sockets: (Socket | undefined)[];
  readonly #dueMs: Float64Array;
  readonly #rows = new Map<number, string>();
  readonly #flaps: LinkFlaps;
  readonly #startMs = performance.now();
  #server: Server | undefined;
  /** Controllers that have called while every switch had one. */
  readonly #callers: Socket[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isUp = true;
  #reconnects = 0;

  constructor(profile: OpenFlowProfile, onAnswer: (delayMs: number) => void) {
    const { channel, switch: own, load, flaps } = profile;
    this.#profile = profile;
    this.#sockets = new Array<Socket | undefined>(own.count).fill(undefined);
    this.#dueMs = new Float64Array(own.count);
    this.#flaps = new LinkFlaps(flaps);
    this.fabric = new OpenFlowFabric(
      {
        send: (index, message) => void this.#sockets[index]?.write(message),
        onBroken: (index) => void this.#sockets[index]?.destroy(),
        onAnswer,
        now: () => performance.now(),
      },
      {
        ...{ ...load, count: own.count, ports: own.ports, tables: own.tables, maxFlows: own.maxFlows },
        firstDatapathId: BigInt(`0x${own.datapathIdStart}`),
        description: (index) => textOf(own.description, index),
        versions: versionsUpTo(channel.version),
        echoMs: channel.echoSec * 1000,
      },
    );
  }

  /** Connections that were opened again. */
  get reconnects(): number {
    return this.#reconnects;
  }

  get upCount(): number {
    return this.fabric.switches.reduce((sum, { state }) => sum + (state === 'up' ? 1 : 0), 0);
  }

  start(): void {
    const { controllerAddress, port } = this.#profile.channel;
    if (controllerAddress === undefined) {
      this.#server = createServer((socket) => this.#accept(socket));
      this.#server.on('error', () => {});
      this.#server.listen(port);
    }
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Interrupts all channels, or lets them come back. */
  setLink(isUp: boolean): void {
    this.#isUp = isUp;
    if (!isUp) for (const socket of this.#sockets) socket?.destroy();
  }

  /** Rows of switches that have changed since the last call. */
  takeRows(): ResultRow[] {
    return this.fabric.switches.flatMap((one, index) => {
      const row = rowOf(one, index);
      const text = JSON.stringify(row);
      if (this.#rows.get(index) === text) return [];
      this.#rows.set(index, text);
      return [row];
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#isUp = false;
    this.#server?.close();
    for (const socket of [...this.#callers, ...this.#sockets]) socket?.destroy();
  }

  #tick(): void {
    const nowMs = performance.now() - this.#startMs;
    this.#flaps.advance(nowMs, (isUp) => this.setLink(isUp));
    this.fabric.advance(nowMs);
    if (!this.#isUp || this.#profile.channel.controllerAddress === undefined) return;
    for (let index = 0, left = connectsPerTick; index < this.#sockets.length && left > 0; index++) {
      if (this.#sockets[index] !== undefined || nowMs < (this.#dueMs[index] as number)) continue;
      this.#connect(index);
      left--;
    }
  }

  #connect(index: number): void {
    const { controllerAddress: host = '', port, tls } = this.#profile.channel;
    // The certificate of a controller under test is not verified.
    const socket = tls ? connectTls({ host, port, rejectUnauthorized: false }) : connectTcp({ host, port });
    this.#use(index, socket);
    socket.once(tls ? 'secureConnect' : 'connect', () => this.#opened(index));
  }

  /** A controller calls: it gets the first switch that has none, or waits for one. */
  #accept(socket: Socket): void {
    const index = this.#isUp ? this.#sockets.indexOf(undefined) : -1;
    if (index >= 0) {
      this.#use(index, socket);
      this.#opened(index);
    } else if (this.#isUp && this.#callers.length < maxCallers) {
      this.#callers.push(socket);
      socket.once('error', () => {});
    } else socket.destroy();
  }

  #opened(index: number): void {
    this.#sockets[index]?.setNoDelay(true);
    this.fabric.switches[index]?.connected();
  }

  #use(index: number, socket: Socket): void {
    this.#sockets[index] = socket;
    const one = this.fabric.switches[index] as OpenFlowSwitch;
    socket.on('data', (bytes) => one.receive(bytes));
    socket.on('error', ({ message }) => {
      one.lastError = message;
    });
    socket.once('close', () => {
      this.#sockets[index] = undefined;
      this.#dueMs[index] = performance.now() - this.#startMs + this.#profile.channel.reconnectMs;
      this.#reconnects++;
      one.disconnected();
      const caller = this.#callers.shift();
      if (caller !== undefined) this.#accept(caller);
    });
  }
}

const rowOf = (one: OpenFlowSwitch, index: number): ResultRow => {
  const { state, version, role, lastError, datapathId, tables, counters } = one;
  const { packetIns, packetOuts, flowMods, errors } = counters;
  return {
    index,
    state,
    cells: {
      datapathId: datapathId.toString(16).padStart(16, '0'),
      version: state === 'up' ? (versionNames.get(version) ?? null) : null,
      role: state === 'up' ? role : null,
      ...{ flows: tables.count, packetIns, packetOuts, flowMods, errors },
      lastError: lastError === '' ? null : lastError.slice(0, 200),
    },
  };
};
