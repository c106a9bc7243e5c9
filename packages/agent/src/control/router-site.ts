import {
  bytesOfAddress,
  ceaseReason,
  copyOf,
  defaultHeaderFields,
  formatAddress,
  type HeaderFields,
  igmpProtocol,
  ipProtocol,
  isisHex,
  isMappedAddress,
  ldpPort,
  type Memory,
  OpeningQueue,
  ospfProtocol,
  type Packet,
  parseAddress,
  pimProtocol,
} from '@rushhour/wire';
import type { HostNetwork } from '../net/host-network.ts';
import type { Connection, ConnectionEvents, Listener } from '../net/transport/transport.ts';
import type { StackConnection } from '../stack/stack-connection.ts';
import { bgpWireInstancesOf } from './mpls/bgp-wire-instance.ts';
import { carriedByLdp, instancesOverLdp } from './mpls/carried-by-ldp.ts';
import { LdpInstance } from './mpls/ldp-instance.ts';
import { MplsSite } from './mpls/mpls-site.ts';
import { GroupSite } from './multicast/group-site.ts';
import { isPimV6, PimInstance } from './multicast/pim-instance.ts';
import { defaultBfd } from './oam/bfd-instance.ts';
import { BfdSite } from './oam/bfd-site.ts';
import { LinkOamInstance, oamPacket } from './oam/link-oam-instance.ts';
import { DatagramPorts } from './routers/datagram-ports.ts';
import type { PlannedRouter, RouterProfile } from './routers/plan-routers.ts';
import type {
  BfdProfile,
  BgpProfile,
  EvpnProfile,
  IsisProfile,
  LdpProfile,
  LinkOamProfile,
  MplsOamProfile,
  MplsTpProfile,
  OspfProfile,
  PimProfile,
  RipProfile,
  VplsProfile,
  VpwsProfile,
} from './routers/profiles.ts';
import type { InstanceOptions, PlaneContext, ProtocolInstance, Router, WatchedInstance } from './routers/router.ts';
import { SignatureKeys } from './routers/signature-keys.ts';
import { BgpInstance, bgpPort } from './routing/bgp-instance.ts';
import type { BgpInstanceOptions } from './routing/bgp-options.ts';
import { IsisInstance, isisPdu } from './routing/isis-instance.ts';
import { OspfInstance } from './routing/ospf-instance.ts';
import { RipInstance } from './routing/rip-instance.ts';

/** Routing protocols use the class of network control (RFC 2474, CS6). */
const controlDscp = 48;
const transportOptions = { noDelay: true, keepAliveSec: 0, readSize: 'large', closesImmediately: false } as const;

/** BIRD listens with room for eight connections. */
const openingLimits = { limit: 8, holdMs: 200 } as const;

/** Protocols without sessions of their own: they use those of BGP and LDP. */
const carriedByOthers: readonly string[] = ['evpn', 'vpws', 'mpls-oam', ...carriedByLdp];

/** Takes a connection from an address; undefined: it is not wanted. */
type Accept = (connection: Connection, source: string) => ConnectionEvents | undefined;
type Reports = Omit<PlaneContext, 'network' | 'layers' | 'transport'>;

/** The routers on one interface: their emulated hosts and what they share. */
export class Site {
  readonly instances: ProtocolInstance[] = [];
  readonly network: HostNetwork;
  readonly #context: PlaneContext;
  readonly #bgp = new Map<string, BgpInstance>();
  readonly #bfd: BfdSite;
  readonly #mpls: MplsSite;
  readonly #isis: IsisInstance[] = [];
  readonly #links: LinkOamInstance[] = [];
  readonly #groups: GroupSite;
  readonly #ospf: OspfInstance[] = [];
  readonly #pim: PimInstance[] = [];
  readonly #ldp = new Map<string, LdpInstance>();
  readonly #ports: DatagramPorts;
  readonly #openings = new Map<string, OpeningQueue>();
  /** By host and port: looked up for every packet. */
  readonly #ttls = new Map<number, number>();
  readonly #keys = new SignatureKeys();
  readonly #fields: HeaderFields[] = [];
  readonly #listeners: Listener[] = [];

  constructor(network: HostNetwork, routers: readonly PlannedRouter[], reports: Reports) {
    const { layers } = network;
    this.network = network;
    this.#context = { ...reports, network, layers, transport: network.createTransport(transportOptions) };
    this.#groups = new GroupSite(this.#context);
    this.#bfd = new BfdSite(this.#context);
    this.#mpls = new MplsSite(this.#context, this.#bfd);
    this.#ports = new DatagramPorts(layers);
    for (const { router, profiles } of routers) for (const profile of profiles) this.#add(router, profile, profiles);
    for (const planned of routers)
      this.instances.push(...instancesOverLdp(planned, this.#ldp.get(planned.router.address)));
    for (const planned of routers) this.#addOam(planned);
    for (const { router } of routers) this.instances.push(...bgpWireInstancesOf(router, [...this.#bgp.values()]));
    for (const instance of [...this.#bgp.values()]) if (instance.isWatched) this.#watch(instance);
    for (const instance of [...this.#ospf, ...this.#isis, ...this.#pim])
      if (instance.isWatched) this.#watchAdjacencies(instance);
    this.#bfd.listen();
    if (this.#ospf.length > 0) layers.group.handleProtocol(ospfProtocol, { receive: this.#deliverOspf });
    if (this.#pim.length > 0) layers.group.handleProtocol(pimProtocol, { receive: this.#deliverPim });
    if (this.#ospf.length + this.#pim.length > 0 || !this.#ports.isEmpty || !this.#groups.isEmpty) this.#hearGroups();
    if (this.#isis.length + this.#links.length > 0 || !this.#mpls.isEmpty) this.#hearFrames();
    layers.group.transit = (memory, start, end) => {
      if (!this.#bfd.forward(memory, start, end) && !this.#mpls.isEmpty) this.#mpls.receive(memory, start, end);
    };
    if (this.#keys.size > 0) layers.group.tcp.signatureKeyOf = this.#keys.find;
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
    for (const host of new Set([...this.#bgp.values()].map(({ router }) => router.address)))
      await this.#listenAt(host, bgpPort, (connection, source) =>
        this.#bgp.get(pairOf(host, source))?.accept(connection),
      );
    for (const [host, instance] of this.#ldp)
      await this.#listenAt(host, ldpPort, (connection, source) => instance.accept(connection, source));
  }

  async #listenAt(host: string, port: number, accept: Accept): Promise<void> {
    const listener = await this.#context.transport.listen({ host, port, isShared: false }, (connection) => {
      const { remoteAddress = '' } = (connection as StackConnection).endpoints ?? {};
      const events = accept(connection, remoteAddress);
      if (events !== undefined) return events;
      connection.reset();
      return { onOpen() {}, onData() {}, onClose() {} };
    });
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    for (const listener of this.#listeners) await listener.close();
    await this.#context.transport.close();
    await this.network.close();
  }

  /** `beside`: all profiles of the router. */
  #add(router: Router, { protocol, config, ordinal }: RouterProfile, beside: readonly RouterProfile[]): void {
    const host = this.#context.layers.hostOf(parseAddress(router.address));
    if (protocol === 'bgp')
      this.#addBgp({ profile: config as BgpProfile, router, ordinal, host, ...carriedByBgp(beside) });
    else if (protocol === 'bfd') this.#addBfd({ profile: config as BfdProfile, router, ordinal, host });
    else if (protocol === 'ospf') this.#addOspf({ profile: config as OspfProfile, router, ordinal, host });
    else if (protocol === 'ldp') this.#addLdp({ profile: config as LdpProfile, router, ordinal, host });
    else if (protocol === 'rip') this.#addRip({ profile: config as RipProfile, router, ordinal, host });
    else if (protocol === 'pim') this.#addPim({ profile: config as PimProfile, router, ordinal, host });
    else if (protocol === 'link-oam') this.#addLink({ profile: config as LinkOamProfile, router, ordinal, host });
    else if (protocol === 'isis') this.#addIsis({ profile: config as IsisProfile, router, ordinal, host });
    else if (!carriedByOthers.includes(protocol)) this.#addOther(protocol, { profile: config, router, ordinal, host });
  }

  #addBgp(options: Omit<BgpInstanceOptions, 'openings'>): void {
    const { peerAddress = '' } = options.profile.session;
    const openings = this.#openings.get(peerAddress) ?? new OpeningQueue(openingLimits);
    this.#openings.set(peerAddress, openings);
    const instance = new BgpInstance({ ...options, openings }, this.#context);
    const { address } = options.router;
    const pair = pairOf(address, instance.peer);
    if (this.#bgp.has(pair)) throw new RangeError(`two BGP sessions between ${address} and ${instance.peer}`);
    this.#bgp.set(pair, instance);
    this.#ttls.set(portOf(options.host, bgpPort), instance.ttl);
    const { kind, key } = options.profile.authentication;
    if (kind === 'md5') this.#keys.add(bgpPort, pair, key);
    this.instances.push(instance);
  }

  #addBfd(options: InstanceOptions<BfdProfile>) {
    const instance = this.#bfd.add(options);
    this.#ttls.set(portOf(instance.host, instance.port), instance.ttl);
    this.instances.push(instance);
    return instance;
  }

  #addOspf(options: InstanceOptions<OspfProfile>): void {
    const isVersion3 = options.profile.instance.version === 3;
    const host = isVersion3 ? this.#linkLocalHost(options.router) : options.host;
    if (!isVersion3 && options.router.address.includes(':'))
      throw new RangeError(`OSPF version 2 of ${options.router.address} needs an IPv4 address`);
    const instance = new OspfInstance({ ...options, host }, this.#context);
    this.#ospf.push(instance);
    this.instances.push(instance);
  }

  #addRip(options: InstanceOptions<RipProfile>): void {
    const isNg = options.profile.instance.version === 'ng';
    const host = isNg ? this.#linkLocalHost(options.router) : options.host;
    const instance = new RipInstance({ ...options, host }, this.#context);
    const { address, port } = instance;
    this.#ports.add(port, { address, hear: (bytes, source) => instance.receive(bytes, source) });
    // Routers believe RIPng only from their own link (RFC 2080, section 2.4.2).
    this.#ttls.set(portOf(host, port), isNg ? 255 : 1);
    this.instances.push(instance);
  }

  #linkLocalHost({ linkLocal = '' }: Router): number {
    return this.#context.layers.hostOf(parseAddress(linkLocal));
  }

  /** Paths are tested with the labels of LDP. */
  #addOam({ router, profiles }: PlannedRouter): void {
    const host = this.#context.layers.hostOf(parseAddress(router.address));
    for (const { protocol, config, ordinal } of profiles) {
      if (protocol !== 'mpls-oam') continue;
      const options = { profile: config as MplsOamProfile, router, ordinal, host };
      this.instances.push(this.#mpls.add(options, this.#ldp.get(router.address)));
    }
  }

  #addOther(protocol: string, options: InstanceOptions<unknown>): void {
    const paths = options as InstanceOptions<MplsTpProfile>;
    const instance = protocol === 'mpls-tp' ? this.#mpls.addPaths(paths) : this.#groups.add(protocol, options);
    if (instance === undefined) throw new RangeError(`emulated routers cannot run ${protocol} yet`);
    this.instances.push(instance);
  }

  #addPim(options: InstanceOptions<PimProfile>): void {
    const { router, profile } = options;
    const host = isPimV6(profile, router.address) ? this.#linkLocalHost(router) : options.host;
    const instance = new PimInstance({ ...options, host }, this.#context);
    if (this.#pim.some(({ address }) => address === instance.address))
      throw new RangeError(`two profiles of PIM for ${instance.address}`);
    this.#pim.push(instance);
    this.instances.push(instance);
  }

  #addLdp(options: InstanceOptions<LdpProfile>): void {
    const instance = new LdpInstance(options, this.#context);
    const { address } = options.router;
    if (this.#ldp.has(address)) throw new RangeError(`two profiles of LDP for ${address}`);
    this.#ldp.set(address, instance);
    const { kind, key } = options.profile.authentication;
    if (kind === 'md5') this.#keys.add(ldpPort, address, key);
    this.#ports.add(ldpPort, { address, hear: (bytes, source) => instance.receiveHello(bytes, formatAddress(source)) });
    // Hellos and sessions of IPv6 are believed only from the link (RFC 7552, section 9).
    if (address.includes(':'))
      for (const host of [options.host, this.#linkLocalHost(options.router)])
        this.#ttls.set(portOf(host, ldpPort), 255);
    this.instances.push(instance);
  }

  #addIsis(options: InstanceOptions<IsisProfile>): void {
    const instance = new IsisInstance(options, this.#context);
    this.#isis.push(instance);
    this.instances.push(instance);
  }

  #addLink(options: InstanceOptions<LinkOamProfile>): void {
    if (this.#links.length > 0) throw new RangeError('link OAM: a link has one end on an interface');
    const instance = new LinkOamInstance(options, this.#context);
    this.#links.push(instance);
    this.instances.push(instance);
  }

  /** PDUs go to groups: they are for every router on the interface. */
  #hearFrames(): void {
    this.#context.layers.group.otherFrames = (memory, start, end, { tags }) => {
      const { bytes } = memory;
      if (tags !== 0) return;
      if (!this.#mpls.isEmpty) this.#mpls.receive(memory, start, end);
      const frame = bytes.subarray(start, end);
      const packet = this.#links.length > 0 ? oamPacket(frame) : undefined;
      if (packet !== undefined) for (const link of this.#links) link.receive(packet);
      const pdu = isisPdu(frame);
      if (pdu === undefined) return;
      const source = isisHex(bytes.subarray(start + 6, start + 12));
      for (const one of this.#isis) one.receive(pdu, source);
    };
  }

  /** Packets to groups are for every router on the interface, others for one. */
  readonly #deliverOspf = (packet: Packet, memory: Memory, start: number, end: number): void => {
    const bytes = copyOf(memory.bytes, start, end);
    const { addresses, path, isV6 } = packet;
    const ends = { source: addresses.slice(4, 8), destination: addresses.slice(0, 4) };
    const target = path < 0 ? undefined : formatAddress(addresses, 0);
    for (const one of this.#ospf)
      if (target === undefined ? one.address.includes(':') === isV6 : one.address === target) one.receive(bytes, ends);
  };

  readonly #deliverPim = ({ addresses, path }: Packet, memory: Memory, start: number, end: number): void => {
    const bytes = copyOf(memory.bytes, start, end);
    const [target, origin] = [formatAddress(addresses, 0), formatAddress(addresses, 4)];
    const [destination, source] = [bytesOfAddress(target), bytesOfAddress(origin)];
    for (const one of this.#pim)
      if (path < 0 ? one.address.includes(':') === origin.includes(':') : one.address === target)
        one.receive(bytes, source, destination);
  };

  #hearGroups(): void {
    this.#context.layers.group.multicast = {
      receive: (packet, protocol, memory, start, end) => {
        this.#groups.receive(packet, protocol, memory, start, end);
        if (protocol === ospfProtocol) this.#deliverOspf(packet, memory, start, end);
        else if (protocol === pimProtocol) this.#deliverPim(packet, memory, start, end);
        else if (protocol === ipProtocol.udp) this.#ports.receive(packet, memory, start, end);
      },
    };
  }

  /** BFD ends the BGP session when the neighbour is lost (RFC 5882). */
  #watch(bgp: BgpInstance): void {
    const { router, peer, session } = bgp;
    const kind = bgp.ttl > 1 ? 'multi-hop' : 'single-hop';
    const host = this.#context.layers.hostOf(parseAddress(router.address));
    const bfd =
      this.#bfd.find(router.address, peer) ??
      this.#addBfd({ profile: defaultBfd(peer, kind), router, ordinal: 0, host });
    bfd.dependents.push((now) => {
      session.stop(now, ceaseReason.bfdDown);
      session.start(now);
    });
  }

  /** Adjacencies end with the BFD sessions of their router (RFC 5882, section 4.1). */
  #watchAdjacencies(instance: WatchedInstance): void {
    const { address } = instance.router;
    const sessions = this.#bfd.sessionsOf(instance.router);
    if (sessions.length === 0)
      throw new RangeError(`${instance.protocol} of ${address} is watched by BFD: give its router a profile of BFD`);
    for (const { peer, dependents } of sessions) dependents.push((now) => instance.lose(peer, now));
  }

  #fieldsOf(keys: Int32Array, at: number, path: number, protocol: number): HeaderFields | undefined {
    if (protocol === ospfProtocol || protocol === igmpProtocol) return this.#fieldsWith(1);
    // Registers go further than the link.
    if (protocol === pimProtocol && isGroup(keys, at + 4)) return this.#fieldsWith(1);
    if (protocol !== ipProtocol.tcp && protocol !== ipProtocol.udp) return undefined;
    if (protocol === ipProtocol.udp && isMappedAddress(keys, at + 4) && isGroup(keys, at + 4))
      return this.#fieldsWith(1);
    const ports = keys[at + 8] as number;
    const ttl = this.#ttls.get(portOf(path, ports & 0xffff)) ?? this.#ttls.get(portOf(path, ports >>> 16));
    return ttl === undefined ? undefined : this.#fieldsWith(ttl);
  }

  #fieldsWith(ttl: number): HeaderFields {
    this.#fields[ttl] ??= { ...defaultHeaderFields, ttl, dscp: controlDscp };
    return this.#fields[ttl];
  }
}

const carriedByBgp = (profiles: readonly RouterProfile[]): Pick<BgpInstanceOptions, 'evpn' | 'vpws' | 'vpls'> => {
  const of = <Profile>(name: string) =>
    profiles
      .filter(({ protocol }) => protocol === name)
      .map(({ config, ordinal }) => ({ profile: config as Profile, ordinal }));
  const vpls = of<VplsProfile>('vpls').filter(({ profile }) => profile.instance.signalling === 'bgp');
  return { evpn: of<EvpnProfile>('evpn'), vpws: of<VpwsProfile>('vpws'), vpls };
};

/** A multicast address of either version. */
const isGroup = (keys: Int32Array, at: number): boolean =>
  isMappedAddress(keys, at) ? (keys[at + 3] as number) >>> 28 === 0xe : (keys[at] as number) >>> 24 === 0xff;

/** A port of an emulated host as one number. */
const portOf = (host: number, port: number): number => host * 0x10000 + port;

const pairOf = (local: string, peer: string): string => `${local} ${formatAddress(parseAddress(peer))}`;
