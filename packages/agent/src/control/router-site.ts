import {
  ceaseReason,
  defaultHeaderFields,
  formatAddress,
  type HeaderFields,
  ipProtocol,
  isisHex,
  type Memory,
  type Packet,
  parseAddress,
  ripPort,
  type UdpHandler,
  UdpHeader,
} from '@rushhour/wire';
import type { HostNetwork } from '../net/host-network.ts';
import type { Listener } from '../net/transport/transport.ts';
import type { StackConnection } from '../stack/stack-connection.ts';
import { BfdInstance, bfdPorts, defaultBfd } from './bfd-instance.ts';
import { BgpInstance, bgpPort } from './bgp-instance.ts';
import { IsisInstance, isisPdu } from './isis-instance.ts';
import { OspfInstance, ospfProtocol } from './ospf-instance.ts';
import type { PlannedRouter, RouterProfile } from './plan-routers.ts';
import type { BfdProfile, BgpProfile, IsisProfile, OspfProfile, RipProfile } from './profiles.ts';
import { RipInstance } from './rip-instance.ts';
import type { InstanceOptions, PlaneContext, ProtocolInstance, Router } from './router.ts';

/** Routing protocols use the class of network control (RFC 2474, CS6). */
const controlDscp = 48;
const transportOptions = { noDelay: true, keepAliveSec: 0, readSize: 'large', closesImmediately: false } as const;

type Reports = Pick<PlaneContext, 'recordAdjacency' | 'recordDetection' | 'event'>;

/** The routers on one interface: their emulated hosts and what they share. */
export class Site {
  readonly instances: ProtocolInstance[] = [];
  readonly network: HostNetwork;
  readonly #context: PlaneContext;
  readonly #bgp = new Map<string, BgpInstance>();
  /** By port, own address and address of the neighbour. */
  readonly #bfd = new Map<string, BfdInstance>();
  readonly #isis: IsisInstance[] = [];
  readonly #ospf: OspfInstance[] = [];
  readonly #rip: RipInstance[] = [];
  readonly #udp = new UdpHeader();
  readonly #ttls = new Map<string, number>();
  readonly #fields: HeaderFields[] = [];
  readonly #listeners: Listener[] = [];

  constructor(network: HostNetwork, routers: readonly PlannedRouter[], reports: Reports) {
    const { layers } = network;
    this.network = network;
    this.#context = { ...reports, network, layers, transport: network.createTransport(transportOptions) };
    for (const { router, profiles } of routers) for (const profile of profiles) this.#add(router, profile);
    for (const instance of [...this.#bgp.values()]) if (instance.isWatched) this.#watch(instance);
    if (this.#bfd.size > 0) for (const port of Object.values(bfdPorts)) layers.group.udp.bind(port, this.#bfdHandler);
    if (this.#ospf.length > 0) layers.group.handleProtocol(ospfProtocol, { receive: this.#deliverOspf });
    if (this.#rip.length > 0) layers.group.udp.bind(ripPort, this.#ripHandler);
    if (this.#ospf.length + this.#rip.length > 0) this.#hearGroups();
    if (this.#isis.length > 0) this.#hearIsis();
    layers.group.output.fieldsOf = (keys, at, path, protocol) => this.#fieldsOf(keys, at, path, protocol);
  }

  get createAlarm() {
    return this.#context.transport.createAlarm;
  }

  flush(): void {
    this.#context.layers.scheduleFlush();
  }

  /** Opens the ports of the routers. */
  async listen(): Promise<void> {
    for (const host of new Set([...this.#bgp.values()].map(({ router }) => router.address))) {
      const listener = await this.#context.transport.listen({ host, port: bgpPort, isShared: false }, (connection) => {
        const { remoteAddress = '' } = (connection as StackConnection).endpoints ?? {};
        const instance = this.#bgp.get(pairOf(host, remoteAddress));
        if (instance !== undefined) return instance.accept(connection);
        connection.reset();
        return { onOpen() {}, onData() {}, onClose() {} };
      });
      this.#listeners.push(listener);
    }
  }

  async close(): Promise<void> {
    for (const listener of this.#listeners) await listener.close();
    await this.#context.transport.close();
    await this.network.close();
  }

  #add(router: Router, { protocol, config, ordinal }: RouterProfile): void {
    const host = this.#context.layers.hostOf(parseAddress(router.address));
    if (protocol === 'bgp') this.#addBgp({ profile: config as BgpProfile, router, ordinal, host });
    else if (protocol === 'bfd') this.#addBfd({ profile: config as BfdProfile, router, ordinal, host });
    else if (protocol === 'ospf') this.#addOspf({ profile: config as OspfProfile, router, ordinal, host });
    else if (protocol === 'rip') this.#addRip({ profile: config as RipProfile, router, ordinal, host });
    else if (protocol === 'isis') this.#addIsis({ profile: config as IsisProfile, router, ordinal, host });
    else throw new RangeError(`emulated routers cannot run ${protocol} yet`);
  }

  #addBgp(options: InstanceOptions<BgpProfile>): void {
    const instance = new BgpInstance(options, this.#context);
    const { address } = options.router;
    const pair = pairOf(address, instance.peer);
    if (this.#bgp.has(pair)) throw new RangeError(`two BGP sessions between ${address} and ${instance.peer}`);
    this.#bgp.set(pair, instance);
    this.#ttls.set(`${options.host} ${bgpPort}`, instance.ttl);
    this.instances.push(instance);
  }

  #addBfd(options: InstanceOptions<BfdProfile>): BfdInstance {
    const instance = new BfdInstance(options, this.#context);
    const { address } = options.router;
    const key = `${instance.port} ${pairOf(address, instance.peer)}`;
    if (this.#bfd.has(key)) throw new RangeError(`two BFD sessions between ${address} and ${instance.peer}`);
    this.#bfd.set(key, instance);
    this.#ttls.set(`${options.host} ${instance.port}`, instance.ttl);
    this.instances.push(instance);
    return instance;
  }

  #addOspf(options: InstanceOptions<OspfProfile>): void {
    const instance = new OspfInstance(options, this.#context, options.router.mask);
    this.#ospf.push(instance);
    this.instances.push(instance);
  }

  #addRip(options: InstanceOptions<RipProfile>): void {
    const instance = new RipInstance(options, this.#context);
    this.#rip.push(instance);
    this.#ttls.set(`${options.host} ${ripPort}`, 1);
    this.instances.push(instance);
  }

  #addIsis(options: InstanceOptions<IsisProfile>): void {
    const instance = new IsisInstance(options, this.#context);
    this.#isis.push(instance);
    this.instances.push(instance);
  }

  /** PDUs go to groups: they are for every router on the interface. */
  #hearIsis(): void {
    this.#context.layers.group.otherFrames = ({ bytes }, start, end, { tags }) => {
      const pdu = tags === 0 ? isisPdu(bytes.subarray(start, end)) : undefined;
      if (pdu === undefined) return;
      const source = isisHex(bytes.subarray(start + 6, start + 12));
      for (const one of this.#isis) one.receive(pdu, source);
    };
  }

  /** Packets to groups are for every router on the interface, others for one. */
  readonly #deliverOspf = (packet: Packet, memory: Memory, start: number, end: number): void => {
    const bytes = memory.bytes.slice(start, end);
    const source = (packet.addresses[7] as number) >>> 0;
    const target = packet.path < 0 ? undefined : formatAddress(packet.addresses, 0);
    for (const one of this.#ospf) if (target === undefined || one.router.address === target) one.receive(bytes, source);
  };

  #hearGroups(): void {
    this.#context.layers.group.multicast = {
      receive: (packet, protocol, memory, start, end) => {
        if (protocol === ospfProtocol) this.#deliverOspf(packet, memory, start, end);
        else if (protocol === ipProtocol.udp) this.#hearRip(packet, memory, start, end);
      },
    };
  }

  #hearRip(packet: Packet, memory: Memory, start: number, end: number): void {
    const udp = this.#udp;
    if (!udp.parse(memory, start, end, 0, false)) return;
    if (udp.destinationPort !== ripPort || udp.sourcePort !== ripPort) return;
    const source = (packet.addresses[7] as number) >>> 0;
    for (const one of this.#rip) one.receive(memory.bytes.slice(udp.payload, udp.end), source);
  }

  readonly #ripHandler: UdpHandler = {
    onDatagram: (key, _packet, memory, start, end) => {
      const instance = this.#rip.find(({ router }) => router.address === formatAddress(key, 0));
      if (((key[8] as number) & 0xffff) === ripPort)
        instance?.receive(memory.bytes.slice(start, end), (key[7] as number) >>> 0);
      return instance !== undefined;
    },
  };

  /** BFD ends the BGP session when the neighbour is lost (RFC 5882). */
  #watch(bgp: BgpInstance): void {
    const { router, peer, session } = bgp;
    const kind = bgp.ttl > 1 ? 'multi-hop' : 'single-hop';
    const known = [...Object.values(bfdPorts)].map((port) => this.#bfd.get(`${port} ${pairOf(router.address, peer)}`));
    const host = this.#context.layers.hostOf(parseAddress(router.address));
    const bfd =
      known.find((one) => one !== undefined) ??
      this.#addBfd({ profile: defaultBfd(peer, kind), router, ordinal: 0, host });
    bfd.dependents.push((now) => {
      session.stop(now, ceaseReason.bfdDown);
      session.start(now);
    });
  }

  readonly #bfdHandler: UdpHandler = {
    onDatagram: (key, _packet, memory, start, end) => {
      const pair = `${formatAddress(key, 0)} ${formatAddress(key, 4)}`;
      const instance = this.#bfd.get(`${(key[8] as number) >>> 16} ${pair}`);
      instance?.receive(memory.bytes, start, end);
      return instance !== undefined;
    },
  };

  #fieldsOf(keys: Int32Array, at: number, path: number, protocol: number): HeaderFields | undefined {
    if (protocol === ospfProtocol) return this.#fieldsWith(1);
    if (protocol !== ipProtocol.tcp && protocol !== ipProtocol.udp) return undefined;
    const ports = keys[at + 8] as number;
    const ttl = this.#ttls.get(`${path} ${ports & 0xffff}`) ?? this.#ttls.get(`${path} ${ports >>> 16}`);
    return ttl === undefined ? undefined : this.#fieldsWith(ttl);
  }

  #fieldsWith(ttl: number): HeaderFields {
    this.#fields[ttl] ??= { ...defaultHeaderFields, ttl, dscp: controlDscp };
    return this.#fields[ttl];
  }
}

const pairOf = (local: string, peer: string): string => `${local} ${formatAddress(parseAddress(peer))}`;
