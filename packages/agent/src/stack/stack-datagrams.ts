import {
  formatAddress,
  type IcmpErrorKind,
  KeyTable,
  type Memory,
  parseAddress,
  type UdpHandler,
} from '@rushhour/wire';
import type {
  Datagram,
  DatagramEvents,
  DatagramOptions,
  DatagramSocket,
  DatagramTransport,
} from '../net/datagram/datagram-transport.ts';
import { kernelEventLoop } from '../net/loop/kernel-event-loop.ts';
import type { Flushable } from '../net/loop/pre-wait-tasks.ts';
import type { Route } from '../net/transport/transport.ts';
import type { Stack } from './stack.ts';
import { EndpointCache } from './stack-transport.ts';

const keyWords = 9;
const portsWord = 8;
const dynamicPorts = { first: 0x8000, count: 0x7000 } as const;
const maxPortAttempts = 1024;
const wildcards = new Set(['0.0.0.0', '::', '']);

interface StackDatagram extends Datagram {
  bytes: Buffer;
  start: number;
  end: number;
  now: number;
  from: number;
  /** Flow and host it came by. */
  readonly key: Int32Array;
  path: number;
}

/** One datagram for all sockets: it is valid during the call only. */
const datagram: StackDatagram = {
  bytes: Buffer.alloc(0),
  start: 0,
  end: 0,
  now: 0,
  from: 0,
  index: 0,
  key: new Int32Array(keyWords),
  path: 0,
};

/** A UDP socket of emulated hosts: of one flow, or of a port on one host or all. */
class StackSocket implements DatagramSocket, Flushable {
  events!: DatagramEvents;
  readonly #stack: Stack;
  readonly #key: Int32Array;
  readonly #path: number;
  readonly #onClosed: (socket: StackSocket) => void;
  readonly #peers = new KeyTable({ width: keyWords, seed: 0x2545f491 });
  #sent: number[] = [];
  #failed: number[] = [];
  #isScheduled = false;

  /** `key`: flow of a connected socket. */
  constructor(stack: Stack, flow: { key: Int32Array; path: number }, onClosed: (socket: StackSocket) => void) {
    this.#stack = stack;
    this.#key = flow.key;
    this.#path = flow.path;
    this.#onClosed = onClosed;
  }

  close(): void {
    this.#onClosed(this);
  }

  /** Local endpoint of a connected socket. */
  get local(): { readonly localAddress: string; readonly localPort: number } {
    return { localAddress: formatAddress(this.#key, 0), localPort: (this.#key[portsWord] as number) >>> 16 };
  }

  send(bytes: Uint8Array, token: number): void {
    this.#transmit(this.#key, this.#path, bytes, token);
  }

  reply(to: Datagram, bytes: Uint8Array, token: number): void {
    const { key, path } = to as StackDatagram;
    this.#transmit(key, path, bytes, token);
  }

  createReply(to: Datagram): (bytes: Uint8Array, token: number) => void {
    const { key, path } = to as StackDatagram;
    const copy = key.slice();
    return (bytes, token) => this.#transmit(copy, path, bytes, token);
  }

  /** The same number for all datagrams of one remote endpoint to one host. */
  peerOf(key: Int32Array): number {
    const known = this.#peers.find(key, 0);
    return known >= 0 ? known : this.#peers.add(key, 0);
  }

  /** Reports what was sent outside of the call that sent it. */
  flush(): void {
    this.#isScheduled = false;
    const { now } = this.#stack;
    const [sent, failed] = [this.#sent, this.#failed];
    this.#sent = [];
    this.#failed = [];
    for (const token of sent) this.events.onSent(token, now);
    for (const token of failed) this.events.onFail(token, 'ENOBUFS');
  }

  #transmit(key: Int32Array, path: number, bytes: Uint8Array, token: number): void {
    const isSent = this.#stack.port.isUp?.(path) !== false && this.#stack.group.udp.send(key, path, bytes);
    (isSent ? this.#sent : this.#failed).push(token);
    this.#stack.scheduleFlush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#stack.defer(this);
  }
}

/** The socket of all hosts, and those of single ones. */
interface BoundPort {
  any: StackSocket | undefined;
  readonly byHost: Map<number, StackSocket>;
}

const errorCodes: Readonly<Record<string, string>> = { refused: 'ECONNREFUSED', tooBig: 'EMSGSIZE' };

/** UDP of emulated hosts. */
class StackDatagrams implements DatagramTransport, UdpHandler {
  readonly name = 'stack';
  readonly #stack: Stack;
  readonly #endpoints: EndpointCache;
  readonly #flows = new KeyTable({ width: keyWords, seed: 0x9e3779b1 });
  readonly #connected: (StackSocket | undefined)[] = [];
  /** By port. */
  readonly #bound = new Map<number, BoundPort>();
  #nextPort = Math.floor(Math.random() * dynamicPorts.count);

  constructor(stack: Stack) {
    this.#stack = stack;
    this.#endpoints = new EndpointCache(stack);
    stack.addDatagrams(this);
  }

  readonly createAlarm = (onAlarm: () => void) => kernelEventLoop.createAlarm(onAlarm);

  async connect(route: Route, _options: DatagramOptions, events: DatagramEvents): Promise<DatagramSocket> {
    const key = new Int32Array(keyWords);
    const path = this.#endpoints.writeKey(route, key);
    if (route.localPort === undefined || route.localPort === 0) this.#choosePort(key);
    if (this.#flows.find(key, 0) >= 0) throw Object.assign(new Error('the flow exists'), { code: 'EADDRINUSE' });
    const slot = this.#flows.add(key, 0);
    const socket = new StackSocket(this.#stack, { key, path }, (closed) => {
      if (this.#connected[slot] !== closed) return;
      this.#connected[slot] = undefined;
      this.#flows.remove(slot);
    });
    socket.events = events;
    this.#connected[slot] = socket;
    return socket;
  }

  async bind(
    { host, port }: { readonly host: string; readonly port: number },
    _options: DatagramOptions,
    createEvents: (socket: DatagramSocket) => DatagramEvents,
  ): Promise<DatagramSocket> {
    const index = wildcards.has(host) ? undefined : this.#stack.hosts.indexOf(parseAddress(host), 0);
    if (index !== undefined && index < 0) throw new RangeError(`${host} is not an emulated host of this job`);
    const entry: BoundPort = this.#bound.get(port) ?? { any: undefined, byHost: new Map() };
    const socket = new StackSocket(this.#stack, { key: new Int32Array(keyWords), path: 0 }, (closed) => {
      if (entry.any === closed) entry.any = undefined;
      if (index !== undefined && entry.byHost.get(index) === closed) entry.byHost.delete(index);
    });
    socket.events = createEvents(socket);
    this.#bound.set(port, entry);
    if (index === undefined) entry.any = socket;
    else entry.byHost.set(index, socket);
    return socket;
  }

  async close(): Promise<void> {
    this.#stack.flush();
    this.#stack.removeDatagrams(this);
  }

  onDatagram(key: Int32Array, packet: { path: number }, memory: Memory, start: number, end: number): boolean {
    const socket = this.#find(key, packet.path);
    if (socket === undefined) return false;
    datagram.key.set(key);
    datagram.path = packet.path;
    datagram.bytes = memory.bytes as Buffer;
    if (!Buffer.isBuffer(memory.bytes))
      datagram.bytes = Buffer.from(memory.bytes.buffer, memory.bytes.byteOffset, memory.bytes.byteLength);
    datagram.start = start;
    datagram.end = end;
    datagram.now = this.#stack.now;
    datagram.from = socket.peerOf(key);
    socket.events.onMessage(datagram);
    return true;
  }

  onError(key: Int32Array, kind: IcmpErrorKind): void {
    const slot = this.#flows.find(key, 0);
    if (slot >= 0) this.#connected[slot]?.events.onError(errorCodes[kind] ?? 'EHOSTUNREACH');
  }

  #find(key: Int32Array, path: number): StackSocket | undefined {
    const slot = this.#flows.find(key, 0);
    if (slot >= 0) return this.#connected[slot];
    const entry = this.#bound.get((key[portsWord] as number) >>> 16);
    return entry?.byHost.get(path) ?? entry?.any;
  }

  #choosePort(key: Int32Array): void {
    const remotePort = (key[portsWord] as number) & 0xffff;
    for (let attempt = 0; attempt < maxPortAttempts; attempt++) {
      const port = dynamicPorts.first + (this.#nextPort++ % dynamicPorts.count);
      key[portsWord] = (port << 16) | remotePort;
      if (this.#flows.find(key, 0) < 0) return;
    }
    throw Object.assign(new Error('no port is free'), { code: 'EADDRNOTAVAIL' });
  }
}

/** Local endpoint of a connected socket of emulated hosts. */
export const flowOf = (socket: DatagramSocket) => (socket as StackSocket).local;

export const createStackDatagrams = (stack: Stack): DatagramTransport => new StackDatagrams(stack);
