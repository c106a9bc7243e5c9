import { copyAddress, parseAddress, SummedBytes } from '@rushhour/wire';
import { IndexedSet } from '../net/loop/indexed-set.ts';
import { kernelEventLoop } from '../net/loop/kernel-event-loop.ts';
import type {
  Connection,
  ConnectionEvents,
  ConnectionOptions,
  Listener,
  Message,
  Route,
  Transport,
} from '../net/transport/transport.ts';
import type { Stack } from './stack.ts';
import { StackConnection, type StackConnectionOwner } from './stack-connection.ts';

const backlog = 65_535;
const portsWord = 8;
/** Shorter messages are summed whenever they are sent. */
const minSummedBytes = 1024;
/** A connection from a host that cannot send fails after this time. */
const unreachableMs = 10;

/** Endpoints as the stack has them, parsed once. */
export class EndpointCache {
  readonly #stack: Stack;
  readonly #hosts = new Map<string, number>();
  readonly #addresses = new Map<string, Int32Array>();
  #next = 0;

  constructor(stack: Stack) {
    this.#stack = stack;
  }

  /** Writes the flow key of a route and returns the index of its host. */
  writeKey({ address, port, localAddress, localPort = 0 }: Route, key: Int32Array): number {
    const remote = this.addressOf(address);
    const host = localAddress === undefined ? this.#anyHost() : this.#hostOf(localAddress);
    this.#stack.hosts.sourceFor(host, remote, 0, key, 0);
    copyAddress(remote, 0, key, 4);
    key[portsWord] = (localPort << 16) | port;
    return host;
  }

  addressOf(text: string): Int32Array {
    const known = this.#addresses.get(text);
    if (known !== undefined) return known;
    const words = parseAddress(text);
    this.#addresses.set(text, words);
    return words;
  }

  #hostOf(text: string): number {
    const known = this.#hosts.get(text);
    if (known !== undefined) return known;
    const { hosts } = this.#stack;
    const host = hosts.hostNamed?.(text) ?? hosts.indexOf(parseAddress(text), 0);
    if (host < 0) throw new RangeError(`${text} is not an emulated host of this job`);
    this.#hosts.set(text, host);
    return host;
  }

  #anyHost(): number {
    this.#next = (this.#next + 1) % this.#stack.hosts.count;
    return this.#next;
  }
}

type Accept = (connection: Connection) => ConnectionEvents;

/** Servers of one port: for all hosts, or for one each. */
interface PortServers {
  any: Accept | undefined;
  readonly byHost: Map<number, Accept>;
  close(): void;
}

const wildcards = new Set(['0.0.0.0', '::', '']);

/** TCP of emulated hosts. */
class StackTransport implements Transport {
  readonly name = 'stack';
  readonly #stack: Stack;
  readonly #options: ConnectionOptions;
  readonly #settings;
  readonly #endpoints: EndpointCache;
  readonly #key = new Int32Array(9);
  readonly #connections = new IndexedSet<StackConnection>();
  readonly #owner: StackConnectionOwner;
  readonly #ports = new Map<number, PortServers>();
  readonly #messages = new WeakMap<Uint8Array, Message>();
  #isClosed = false;

  constructor(stack: Stack, options: ConnectionOptions) {
    this.#stack = stack;
    this.#options = options;
    this.#settings = stack.tcpSettings(options);
    this.#endpoints = new EndpointCache(stack);
    this.#owner = {
      stack,
      closesImmediately: options.closesImmediately,
      onClosed: (connection) => this.#connections.delete(connection),
    };
    kernelEventLoop.acquire(options);
  }

  readonly createAlarm = (onAlarm: () => void) => kernelEventLoop.createAlarm(onAlarm);

  prepareMessage(bytes: Uint8Array): Message {
    const known = this.#messages.get(bytes);
    if (known !== undefined) return known;
    const fixed = Uint8Array.from(bytes);
    const summed = fixed.length < minSummedBytes ? undefined : new SummedBytes(fixed);
    const message = { bytes: fixed, address: 0, summed };
    this.#messages.set(bytes, message);
    return message;
  }

  connect(route: Route, events: ConnectionEvents): Connection {
    const connection = this.#create(false);
    connection.events = events;
    const path = this.#endpoints.writeKey(route, this.#key);
    if (this.#stack.port.isUp?.(path) === false) {
      // Not at once: an engine that tries again would do nothing else.
      setTimeout(() => connection.fail('ENETUNREACH'), unreachableMs);
      return connection;
    }
    connection.tcp = this.#stack.group.tcp.connect(this.#key, {
      settings: this.#settings,
      events: connection,
      path,
      shape: route.shape,
    });
    if (connection.tcp === undefined) connection.fail('EADDRNOTAVAIL');
    this.#stack.scheduleFlush();
    return connection;
  }

  async listen({ host, port }: { readonly host: string; readonly port: number }, accept: Accept): Promise<Listener> {
    const servers = this.#ports.get(port) ?? this.#open(port);
    const index = wildcards.has(host) ? undefined : this.#stack.hosts.indexOf(parseAddress(host), 0);
    if (index !== undefined && index < 0) throw new RangeError(`${host} is not an emulated host of this job`);
    if (index === undefined ? servers.any !== undefined : servers.byHost.has(index))
      throw new RangeError(`port ${port} of ${host} is in use`);
    if (index === undefined) servers.any = accept;
    else servers.byHost.set(index, accept);
    return {
      port,
      close: async () => {
        if (index === undefined) servers.any = undefined;
        else servers.byHost.delete(index);
        if (servers.any === undefined && servers.byHost.size === 0) servers.close();
      },
    };
  }

  retransmits(): number {
    return this.#stack.group.tcp.counters.retransmits;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    kernelEventLoop.release(this.#options);
    for (const servers of this.#ports.values()) servers.close();
    for (const connection of this.#connections) connection.reset();
    this.#stack.flush();
  }

  #open(port: number): PortServers {
    const { tcp } = this.#stack.group;
    const listener = tcp.listen(port, {
      settings: this.#settings,
      backlog,
      accept: (accepted) => {
        const handler = servers.byHost.get(accepted.path) ?? servers.any;
        if (handler === undefined) return undefined;
        const connection = this.#create(true);
        connection.tcp = accepted;
        connection.events = handler(connection);
        return connection;
      },
    });
    const servers: PortServers = {
      any: undefined,
      byHost: new Map(),
      close: () => {
        if (this.#ports.delete(port)) tcp.unlisten(listener);
      },
    };
    this.#ports.set(port, servers);
    return servers;
  }

  #create(isOpen: boolean): StackConnection {
    const connection = new StackConnection(this.#owner, isOpen);
    this.#connections.add(connection);
    return connection;
  }
}

export const createStackTransport = (stack: Stack, options: ConnectionOptions): Transport =>
  new StackTransport(stack, options);
