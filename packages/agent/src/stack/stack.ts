import type { HostStack, StackHeader, StackTcp, StackTunnel } from '@rushhour/protocol';
import {
  defaultTcpSettings,
  HostGroup,
  type HostGroupOptions,
  type Memory,
  type TcpSettings,
  type UdpHandler,
} from '@rushhour/wire';
import { epollPoller } from '../net/epoll/epoll-poller.ts';
import type { Alarm } from '../net/loop/alarm.ts';
import { kernelEventLoop } from '../net/loop/kernel-event-loop.ts';
import type { Flushable } from '../net/loop/pre-wait-tasks.ts';
import { fixedGateways, type Hosts, type HostTable } from './hosts.ts';
import { IpsecTunnels } from './ipsec/ipsec-tunnels.ts';
import type { FrameReceiver, Port } from './ports/port.ts';
import type { StackShare } from './ports/stack-share.ts';
import { tunnelCodec } from './tunnels/tunnel-codec.ts';
import { Tunnels } from './tunnels/tunnels.ts';

/** Timers of the stack are looked at this often. */
const tickMs = 2;
/** An address is announced by its host before traffic starts; more of them would be a flood of their own. */
const maxAnnounced = 4096;

const microseconds = (ms: number): number => Math.floor(ms * 1000);

export interface StackHosts {
  /** The hosts that engines use. */
  readonly hosts: HostTable;
  /** The hosts on the interface, where the others are inside tunnels. */
  readonly outerHosts?: Hosts;
  /** What this worker has of them. */
  readonly share?: StackShare | undefined;
}

/** The emulated hosts of one job: a port, an IP stack on it, and the event loop that drives both. */
export class Stack implements FrameReceiver, Flushable {
  readonly hosts: HostTable;
  /** The group on the interface; with tunnels, of their outer addresses. */
  readonly outer: HostGroup;
  /** The group that engines use. */
  readonly group: HostGroup;
  readonly port: Port;
  readonly config: HostStack;
  /** False: another worker speaks for the same hosts. */
  readonly isSpeaker: boolean;
  /** Tunnels of type `ipsec`. */
  readonly ipsec: IpsecTunnels | undefined;
  receivedFrames = 0;
  readonly #linkHosts: HostTable;
  readonly tunnels: Tunnels | IpsecTunnels | undefined;
  readonly #alarm: Alarm;
  readonly #poller = epollPoller();
  readonly #datagrams = new Set<UdpHandler>();
  readonly #fallback: UdpHandler = {
    onDatagram: (...args) => {
      for (const handler of this.#datagrams) if (handler.onDatagram(...args) !== false) return true;
      return false;
    },
    onError: (...args) => {
      for (const handler of this.#datagrams) handler.onError?.(...args);
    },
  };
  #isFlushScheduled = false;
  #isClosed = false;

  constructor(config: HostStack, { hosts, outerHosts, share }: StackHosts, port: Port) {
    this.config = config;
    const flows = share?.by === 'flows' ? share : undefined;
    this.isSpeaker = flows === undefined || flows.index === 0;
    this.port = port;
    this.hosts = hosts;
    const common = { nowUs: microseconds(performance.now()), random: Math.random };
    const fields = fieldsOf(config.header);
    const { tunnel } = config;
    if (tunnel === undefined || outerHosts === undefined) {
      const shim = tunnel && tunnelCodec(tunnel, { index: 0, isServer: tunnel.isServer, version: hosts.version });
      const { hasEthernet = true } = port;
      this.group = new HostGroup({ ...common, sink: port, hosts, fields, shim, hasEthernet, share: flows });
      this.outer = this.group;
    } else {
      this.outer = new HostGroup({ ...common, sink: port, hosts: outerHosts, fields: fieldsOf(outerHeader(tunnel)) });
      const tunnels = createTunnels(tunnel, this.outer, { hosts: outerHosts, version: hosts.version });
      const { hasEthernet } = tunnels;
      this.tunnels = tunnels;
      this.group = new HostGroup({ ...common, sink: tunnels, hosts, fields, hasEthernet });
      tunnels.inner = this.group;
      if (tunnels instanceof IpsecTunnels) this.ipsec = tunnels;
    }
    this.#linkHosts = outerHosts ?? hosts;
    const networks = this.outer === this.group ? config.networks : [(tunnel as StackTunnel).outer];
    for (const { address, mac } of fixedGateways(networks))
      this.outer.neighbours?.setFixed(address, 0, this.#linkHosts.tagsOf(0), mac);
    this.#alarm = kernelEventLoop.createAlarm(() => this.#tick());
    kernelEventLoop.acquire();
    port.receive(this);
    if (this.isSpeaker) this.#announce();
    this.#tick();
  }

  /** Datagrams are offered to each transport until one takes them. */
  addDatagrams(handler: UdpHandler): void {
    this.#datagrams.add(handler);
    this.group.udp.fallback = this.#fallback;
  }

  removeDatagrams(handler: UdpHandler): void {
    this.#datagrams.delete(handler);
    if (this.#datagrams.size === 0) this.group.udp.fallback = undefined;
  }

  /** TCP of all connections of a transport. */
  tcpSettings(options: { readonly noDelay: boolean; readonly keepAliveSec: number }): TcpSettings {
    return { ...tcpSettingsOf(this.config.tcp, options.keepAliveSec), noDelay: options.noDelay };
  }

  /** Sends what has been written, once the event at hand is handled. */
  scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    this.#poller.scheduleFlush(this);
  }

  /** Flushes `target` once the event at hand is handled. */
  defer(target: Flushable): void {
    this.#poller.scheduleFlush(target);
  }

  flush(): void {
    this.#isFlushScheduled = false;
    if (this.#isClosed) return;
    this.group.flush();
    this.#settleOuter();
    this.port.flush();
  }

  /** When the events being handled were read. */
  get now(): number {
    return this.#poller.now;
  }

  onFrame(memory: Memory, start: number, end: number, isChecked: boolean): void {
    this.receivedFrames++;
    this.outer.receive(memory, start, end, isChecked);
  }

  onIdle(): void {
    this.group.advance(microseconds(this.#poller.now));
    this.#settleOuter();
    this.port.flush();
  }

  onRoom(): void {
    if (this.outer !== this.group) this.outer.unblock();
    this.group.unblock();
    this.port.flush();
  }

  close(): void {
    if (this.#isClosed) return;
    this.ipsec?.close();
    this.flush();
    this.#isClosed = true;
    this.#alarm.cancel();
    kernelEventLoop.release();
    this.port.close();
  }

  readonly #tick = (): void => {
    if (this.#isClosed) return;
    const now = performance.now();
    if (this.outer !== this.group) this.outer.advance(microseconds(now));
    this.tunnels?.advance(now);
    this.group.advance(microseconds(now));
    this.#settleOuter();
    this.port.flush();
    this.#alarm.set(now + tickMs);
  };

  /** Packets inside tunnels wait until the far ends of the tunnels are known and have keys. */
  #settleOuter(): void {
    if (this.tunnels === undefined) return;
    this.outer.flush();
    if (this.tunnels.takeRefusal()) this.group.unblock();
  }

  /** Switches learn where the hosts are, and neighbours forget who had the addresses before. */
  #announce(): void {
    const words = new Int32Array(4);
    for (let host = 0; host < Math.min(this.#linkHosts.count, maxAnnounced); host++) {
      this.#linkHosts.writeAddress(host, words, 0);
      this.outer.talk?.announce(words, 0, host);
    }
    this.port.flush();
  }
}

const createTunnels = (tunnel: StackTunnel, outer: HostGroup, inside: { hosts: Hosts; version: 4 | 6 }) =>
  tunnel.type === 'ipsec'
    ? new IpsecTunnels(tunnel, outer, inside.hosts, inside.version)
    : new Tunnels(tunnel, outer, inside);

const outerHeader = ({ params }: StackTunnel): StackHeader => {
  const { ttl, dscp, df } = params as StackHeader;
  return { ...(ttl !== undefined && { ttl }), ...(dscp !== undefined && { dscp }), ...(df !== undefined && { df }) };
};

const fieldsOf = (header: StackHeader): NonNullable<HostGroupOptions['fields']> =>
  Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined));

const tcpSettingsOf = (given: StackTcp, keepAliveSec: number): TcpSettings => {
  const { keepAliveSec: keepAlive = keepAliveSec, ...rest } = given;
  const members = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...defaultTcpSettings, ...members, keepAliveMs: keepAlive * 1000 };
};
