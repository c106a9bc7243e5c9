import type { IpsecSettings, StackTunnel } from '@rushhour/protocol';
import {
  ChildSa,
  formatAddress,
  type HostGroup,
  type IkeCause,
  IkeEndpoint,
  type IkePeer,
  type IkeRoute,
  type IkeSa,
  parseAddress,
} from '@rushhour/wire';
import { IkeUdp, type IkeUdpEvents, ikePort, writeWords } from '../../net/ipsec/ike-udp.ts';
import {
  addressBytes,
  addressRequest,
  createPeer,
  manualKeys,
  numberedPeer,
  selectorsOf,
} from '../../net/ipsec/ipsec-peer.ts';
import { nodeIpsecCrypto } from '../../net/ipsec/node-crypto.ts';
import { IpsecLink } from './ipsec-link.ts';
import { IpsecMonitor } from './ipsec-monitor.ts';

const keyWords = 9;
const portsWord = 8;
const addressWords = 4;
/** A tunnel that failed is opened again after this time. */
const retryMs = 2000;
/** Tunnels that are opened at a time, where no rate is given. */
const maxOpening = 200;
/** Unanswered messages after which another address of this side is tried. */
const retransmitsOfAddress = 3;

/** The hosts that have the outer addresses. */
export interface OuterHosts {
  readonly version: 4 | 6;
  /** Index of the host with the address at `at`, or -1. */
  indexOf(address: Int32Array, at: number): number;
}

/** Tunnels of a job. A server answers at the local ends, whatever the remote ones are. */
export interface IpsecTunnelsConfig extends Pick<StackTunnel, 'isServer' | 'ends' | 'ipsec' | 'mtu'> {
  /** Manual keying of a server: tunnels that are installed when their first packet arrives. */
  readonly manualCount?: number;
  /** The rate at which tunnels are opened rises evenly during this time. */
  readonly rampUpMs?: number;
}

/** A child SA and the tunnel that it belongs to. */
export interface InstalledChild {
  readonly child: ChildSa;
  readonly link: IpsecLink;
}

/** IKE of the tunnels of a job on its outer hosts. Clients open their tunnels, servers answer. */
export class IpsecSessions {
  readonly monitor = new IpsecMonitor();
  /** By inbound SPI. */
  readonly children = new Map<number, InstalledChild>();
  /** Of a client, by index. */
  readonly links: IpsecLink[] = [];
  readonly settings: IpsecSettings;
  readonly #config: IpsecTunnelsConfig;
  readonly #udp: IkeUdp;
  readonly #hosts: OuterHosts;
  readonly #endpoint: IkeEndpoint;
  readonly #peer: IkePeer;
  readonly #version: 4 | 6;
  /** Index of the first tunnel of each local address that a server answers at. */
  readonly #locals = new Map<string, number>();
  /** Addresses that tunnels of a client start from. */
  readonly #sources = new Map<string, { readonly localAddress: Uint8Array; readonly path: number }>();
  #next = 0;
  #openedMs = 0;
  #opening = 0;
  #isClosed = false;

  constructor(config: IpsecTunnelsConfig, outer: HostGroup, hosts: OuterHosts, version: 4 | 6) {
    if (config.ipsec === undefined) throw new RangeError('an IPsec tunnel needs its settings');
    this.#config = config;
    this.#hosts = hosts;
    this.#udp = new IkeUdp(outer.udp, {
      onMessage: (route, message) => {
        this.#endpoint.nowMs = Math.max(this.#endpoint.nowMs, performance.now());
        this.#endpoint.receive(route, message);
      },
      onEsp: (key, path, memory, start, end) => this.onEsp(key, path, memory, start, end),
    });
    this.#version = version;
    this.settings = config.ipsec;
    this.#peer = createPeer(config.ipsec, !config.isServer);
    this.#endpoint = this.#createEndpoint();
    for (const [index, ends] of config.ends.entries()) this.#addEnds(index, ends);
    if (this.isManual) for (const link of this.links) this.#installManual(link);
  }

  /** Takes ESP packets that arrive in UDP. */
  onEsp: IkeUdpEvents['onEsp'] = () => {};

  get isManual(): boolean {
    return this.settings.authMethod === 'manual';
  }

  advance(nowMs: number): void {
    this.#endpoint.advance(nowMs);
    if (!this.#config.isServer && !this.isManual && !this.#isClosed) this.#openNext(nowMs);
  }

  /** A packet of a peer proves that it is alive. */
  heard({ link, child }: InstalledChild): void {
    link.heard(child);
    if (link.sa !== undefined) link.sa.heardMs = this.#endpoint.nowMs;
  }

  /** Tunnels that have waited for so long to be up have timed out: nothing waits for them any more. */
  giveUp(waitedMs: number): void {
    const latest = performance.now() - waitedMs;
    const opening = this.links.flatMap(({ sa, startedMs }) => (sa?.isHalfOpen && startedMs <= latest ? [sa] : []));
    for (const sa of opening) sa.close('timeout');
  }

  close(): void {
    this.#isClosed = true;
    for (const sa of [...this.#endpoint.sas()]) this.#endpoint.close(sa);
    this.#udp.close();
  }

  #createEndpoint(): IkeEndpoint {
    const { counters } = this.monitor;
    return new IkeEndpoint({
      crypto: nodeIpsecCrypto,
      nowMs: performance.now(),
      send: (route, message) => this.#udp.send(route, message),
      sendKeepalive: (route) => this.#udp.sendKeepalive(route),
      findPeer: (route) => (this.#config.isServer && !this.isManual ? this.#serverPeer(route) : undefined),
      events: {
        onKeys: (sa, keys) => this.monitor.onKeys(sa, keys),
        onEstablished: (sa) => this.#onEstablished(sa),
        onClosed: (sa, cause) => this.#onClosed(sa, cause),
        onMoved: (sa) => {
          if (sa.context !== undefined) this.#setFlow(sa.context as IpsecLink, sa);
          if (!sa.isHalfOpen) this.monitor.onEvent(sa, 'goes on between these addresses');
        },
        onRetransmit: (sa) => this.#tryOtherSource(sa),
        onReplaced: (_, by) => {
          (by.context as IpsecLink).sa = by;
          counters.rekeys++;
          this.monitor.onEvent(by, 'keys of IKE renewed');
        },
        onChildUp: (sa, child, replaced) => this.#onChildUp(sa, child, replaced),
        onChildDown: (sa, child) => this.#onChildDown(sa.context as IpsecLink, child),
        onChildFailed: (sa, _, cause) => {
          this.monitor.onFailed(cause, sa.context as IpsecLink);
          this.monitor.onEvent(sa, `no child SA: ${cause}`);
          if (sa.children.length === 0 && sa.isInitiator) this.#endpoint.close(sa);
        },
      },
    });
  }

  #addEnds(index: number, { local, remote }: { local: string; remote: string }): void {
    const key = new Int32Array(keyWords);
    key.set(parseAddress(local), 0);
    key.set(parseAddress(remote), 4);
    const path = this.#hosts.indexOf(key, 0);
    if (path < 0) throw new RangeError(`${local} is not among the outer addresses of the tunnels`);
    const link = new IpsecLink(index, key, path);
    if (!this.#config.isServer || this.isManual) this.links.push(link);
    const text = formatAddress(key, 0);
    if (!this.#config.isServer) this.#sources.set(text, { localAddress: addressBytes(key, 0), path });
    if (!this.#locals.has(text)) this.#locals.set(text, index);
  }

  /** Installs the tunnel of a manually keyed SPI at its first packet, whose addresses are in `key`. */
  acceptManual(spi: number, key: Int32Array, path: number): InstalledChild | undefined {
    const { manualCount = 0 } = this.#config;
    const index = spi - this.#firstSpi;
    if (!this.isManual || this.#isClosed || index < 0 || index >= manualCount) return undefined;
    const link = new IpsecLink(index, new Int32Array(keyWords), path);
    link.key.set(key.subarray(0, 2 * addressWords));
    return this.#installManual(link);
  }

  get #firstSpi(): number {
    const { spi = 0x100, firstIndex } = this.settings;
    return spi + firstIndex;
  }

  /** The same keys in both directions, and an SPI for each tunnel. */
  #installManual(link: IpsecLink): InstalledChild {
    const { spec, keys, hasEsn } = manualKeys(this.settings);
    const spi = (this.#firstSpi + link.index) >>> 0;
    const child = new ChildSa(nodeIpsecCrypto, {
      inboundSpi: spi,
      outboundSpi: spi,
      suite: { ...spec, prf: 0, group: 0, additional: 0, hasEsn },
      inboundKeys: keys,
      outboundKeys: keys,
      local: [],
      remote: [],
      isTransport: this.settings.mode === 'transport',
      replayWindow: this.#peer.replayWindow,
      index: 0,
      isInitiator: true,
      nowMs: performance.now(),
    });
    const installed = { child, link };
    link.add(child, undefined);
    this.children.set(spi, installed);
    this.monitor.counters.childUp++;
    this.monitor.counters.opened++;
    this.monitor.onChildUp(link, child);
    return installed;
  }

  /** Opens what is due by the rate, and what failed before. */
  #openNext(nowMs: number): void {
    const { openRate } = this.settings;
    if (this.#openedMs === 0) this.#openedMs = nowMs;
    const due = openRate === undefined ? Number.POSITIVE_INFINITY : openRate * this.#openingSec(nowMs) + 1;
    const limit = openRate === undefined ? maxOpening : Number.POSITIVE_INFINITY;
    while (this.#next < Math.min(this.links.length, due) && this.#opening < limit) this.#open(this.#next++);
    if (this.#retries.size === 0) return;
    for (const link of this.#retries) {
      if (nowMs < link.retryAt) break;
      this.#retries.delete(link);
      this.#open(link.index);
    }
  }

  /** Seconds since opening began; those of the ramp count half. */
  #openingSec(nowMs: number): number {
    const { rampUpMs = 0 } = this.#config;
    const elapsedMs = nowMs - this.#openedMs;
    return (elapsedMs < rampUpMs ? elapsedMs ** 2 / (2 * rampUpMs) : elapsedMs - rampUpMs / 2) / 1000;
  }

  readonly #retries = new Set<IpsecLink>();

  #open(index: number): void {
    const link = this.links[index] as IpsecLink;
    const [localAddress, remoteAddress] = [addressBytes(link.key, 0), addressBytes(link.key, 4)];
    const ends = { index, local: localAddress, remote: remoteAddress, isInitiator: true, version: this.#version };
    const one = selectorsOf(this.settings, ends);
    const children = Array.from({ length: this.settings.children }, () => one);
    const isEncapsulated = false;
    const route: IkeRoute = {
      ...{ localAddress, remoteAddress, isEncapsulated, path: link.path },
      localPort: ikePort.plain,
      remotePort: ikePort.plain,
    };
    this.#opening++;
    link.startedMs = this.#endpoint.nowMs;
    const peer = numberedPeer(this.#peer, this.settings, index);
    const isMobile = this.#sources.size > 1 && this.settings.mode === 'tunnel';
    const request = addressRequest(this.settings, this.#version);
    link.sa = this.#endpoint.open({ ...peer, ...request, children, isMobile }, route, link);
  }

  /** An initiator behind a NAT has an address that is not configured: only the local one decides. */
  #serverPeer({ localAddress, remoteAddress }: IkeRoute): IkePeer | undefined {
    const index = this.#locals.get(addressText(localAddress));
    if (index === undefined) return undefined;
    const ends = {
      index,
      local: localAddress,
      remote: remoteAddress,
      isInitiator: false,
      version: this.#version,
    };
    const one = selectorsOf(this.settings, ends);
    return { ...this.#peer, children: Array.from({ length: this.settings.children }, () => one) };
  }

  #onEstablished(sa: IkeSa): void {
    const { monitor } = this;
    if (sa.isInitiator) this.#opening--;
    else sa.context = new IpsecLink(-1, new Int32Array(keyWords), sa.route.path);
    const link = sa.context as IpsecLink;
    link.sa = sa;
    this.#setFlow(link, sa);
    monitor.counters.ikeUp++;
    monitor.counters.opened++;
    monitor.onEvent(sa, 'up');
    monitor.onSetup(this.#endpoint.nowMs - (sa.isInitiator ? link.startedMs : sa.startedMs));
  }

  /** A peer that does not answer may be reached from another address of this side. */
  #tryOtherSource(sa: IkeSa): void {
    if (!sa.isInitiator || !sa.isMobile || sa.state !== 'established') return;
    if (sa.unanswered === 0 || sa.unanswered % retransmitsOfAddress !== 0) return;
    const current = addressText(sa.route.localAddress);
    const sources = [...this.#sources];
    const at = sources.findIndex(([address]) => address === current);
    const [, next] = sources[(at + 1) % sources.length] ?? [];
    if (next === undefined || next.path === sa.route.path) return;
    this.monitor.counters.moved++;
    this.#endpoint.move(sa, { ...sa.route, ...next });
  }

  /** ESP in UDP goes where IKE goes. */
  #setFlow(link: IpsecLink, { route }: IkeSa): void {
    writeWords(route.localAddress, link.key, 0);
    writeWords(route.remoteAddress, link.key, 4);
    link.key[portsWord] =
      (ikePort.encapsulated << 16) | (route.isEncapsulated ? route.remotePort : ikePort.encapsulated);
    link.path = route.path;
  }

  #onClosed(sa: IkeSa, cause: IkeCause): void {
    const { monitor } = this;
    const link = sa.context as IpsecLink | undefined;
    const wasUp = sa.establishedMs > 0;
    if (sa.isReplaced || cause === 'replaced') return;
    if (wasUp) monitor.counters.ikeUp--;
    else if (sa.isInitiator) this.#opening--;
    if (cause === 'deadPeer') monitor.counters.dpdTimeouts++;
    if (wasUp) monitor.onEvent(sa, cause === 'deadPeer' ? 'down: the peer does not answer' : `down: ${cause}`);
    if (!wasUp && cause !== 'closed') {
      monitor.onFailed(cause, link);
      monitor.onEvent(sa, `not opened: ${cause}`);
      // Tunnels that time out count with the time they waited.
      if (cause === 'timeout' && sa.isInitiator && link !== undefined)
        monitor.onSetup(this.#endpoint.nowMs - link.startedMs);
    }
    if (link === undefined || this.#config.isServer || this.#isClosed) return;
    link.sa = undefined;
    link.retryAt = this.#endpoint.nowMs + retryMs;
    this.#retries.add(link);
  }

  #onChildUp(sa: IkeSa, child: ChildSa, replaced: ChildSa | undefined): void {
    const { counters } = this.monitor;
    const link = sa.context as IpsecLink;
    link.add(child, replaced);
    this.children.set(child.inbound.spi, { child, link });
    counters.childUp++;
    if (replaced !== undefined) {
      counters.rekeys++;
      this.monitor.onEvent(sa, 'keys of ESP renewed');
    }
    this.monitor.onChildUp(link, child);
  }

  #onChildDown(link: IpsecLink, child: ChildSa): void {
    link.remove(child);
    if (!this.children.delete(child.inbound.spi)) return;
    this.#endpoint.releaseSpi(child.inbound.spi);
    this.monitor.counters.childUp--;
    this.monitor.addErrors(child);
    this.monitor.onChildDown(link, child);
  }
}

const addressText = (address: Uint8Array): string => {
  const words = new Int32Array(addressWords);
  writeWords(address, words, 0);
  return formatAddress(words, 0);
};
