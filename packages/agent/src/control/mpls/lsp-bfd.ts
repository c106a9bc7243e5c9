import { type BfdEvents, BfdSession, formatAddress, parseAddress, parseBfd } from '@rushhour/wire';
import { bfdPorts, bfdRowOf, firstBfdSourcePort } from '../oam/bfd-instance.ts';
import { sendDatagramFrame } from '../routers/datagram-frame.ts';
import type { MplsOamProfile } from '../routers/profiles.ts';
import type { NeighbourRow, PlaneContext, Router } from '../routers/router.ts';

/** How frames to the end of the path begin. */
export interface PathFrame {
  readonly mac: Uint8Array;
  /** undefined: the neighbour asks for no label. */
  readonly mpls: { readonly label: number; readonly trafficClass: number; readonly ttl: number } | undefined;
}

interface LspBfdOptions {
  readonly profile: MplsOamProfile;
  readonly router: Router;
  readonly host: number;
  /** Of the own path, and a source of others for paths that end here. */
  readonly discriminator: number;
  nextDiscriminator(): number;
  /** undefined: the label or the next hop is not known. */
  path(ttl: number): PathFrame | undefined;
}

/** A session that another router has asked for. */
interface Tail {
  readonly session: BfdSession;
  readonly discriminator: number;
  /** When the other router last tested the path by a request. */
  askedAt: number;
}

interface Asker {
  readonly source: Int32Array;
  readonly mac: Uint8Array;
}

/** Paths that end here and are watched by others. */
const maxTails = 4096;
/** A session that is down is forgotten this long after the last request. */
const forgetMs = 60_000;
const lastHop = 255;

/** BFD over label switched paths (RFC 5884): the session of the own path, and those of paths that end at this router. */
export class LspBfd {
  readonly #options: LspBfdOptions;
  readonly #context: PlaneContext;
  readonly #local: Int32Array;
  readonly #head: BfdSession | undefined;
  /** By address and discriminator of the other end. */
  readonly #tails = new Map<string, Tail>();
  readonly #prefix: string;

  constructor(options: LspBfdOptions, context: PlaneContext) {
    const { ping, bfd } = options.profile;
    this.#options = options;
    this.#context = context;
    this.#local = parseAddress(options.router.address);
    this.#prefix = `${ping.prefix}/${ping.prefixLength}`;
    const send = (bytes: Uint8Array) => this.#sendAlong(bytes);
    if (bfd.enabled) this.#head = this.#sessionOf(options.discriminator, `the path to ${this.#prefix}`, { send });
  }

  get counters(): { readonly tx: number; readonly rx: number; readonly flaps: number } {
    const sums = { tx: 0, rx: 0, flaps: 0 };
    for (const { counters } of this.#sessions()) {
      sums.tx += counters.tx;
      sums.rx += counters.rx;
      sums.flaps += counters.flaps;
    }
    return sums;
  }

  start(now: number): void {
    this.#head?.start(now);
  }

  stop(): void {
    for (const session of this.#sessions()) session.stop();
  }

  advance(now: number): void {
    this.#head?.advance(now);
    for (const [key, { session, askedAt }] of this.#tails) {
      session.advance(now);
      if (!session.isUp && now - askedAt > forgetMs) this.#tails.delete(key);
    }
  }

  /** A packet of the end of the own path, which comes back by way of IP. */
  receiveBack(bytes: Uint8Array): void {
    const packet = parseBfd(bytes, 0, bytes.length);
    if (packet !== undefined) this.#head?.receive(packet, performance.now());
  }

  /** A packet along a path that ends here. */
  receiveAlong(bytes: Uint8Array, source: Int32Array): void {
    const packet = parseBfd(bytes, 0, bytes.length);
    if (packet === undefined) return;
    const { myDiscriminator, yourDiscriminator } = packet;
    const tail = this.#tails.get(keyOf(source, myDiscriminator));
    if (tail !== undefined && (yourDiscriminator === 0 || yourDiscriminator === tail.discriminator))
      tail.session.receive(packet, performance.now());
  }

  /** Another router has asked for a session; returns the own discriminator, undefined: there are too many sessions. */
  ask(remoteDiscriminator: number, asker: Asker): number | undefined {
    const now = performance.now();
    const key = keyOf(asker.source, remoteDiscriminator);
    const known = this.#tails.get(key);
    if (known !== undefined) {
      known.askedAt = now;
      return known.discriminator;
    }
    if (this.#tails.size >= maxTails) return undefined;
    const discriminator = this.#options.nextDiscriminator();
    const send = (bytes: Uint8Array) => this.#sendBack(bytes, asker);
    const path = `a path of ${formatAddress(asker.source)}`;
    const session = this.#sessionOf(discriminator, path, { send }, remoteDiscriminator);
    this.#tails.set(key, { session, discriminator, askedAt: now });
    session.start(now);
    return discriminator;
  }

  /** A row for each session. */
  rows(now: number): NeighbourRow[] {
    const tails = [...this.#tails].map(([key, { session }]) =>
      bfdRowOf(this.#options.router.address, `BFD of ${key}`, session, now),
    );
    return this.#head === undefined
      ? tails
      : [bfdRowOf(this.#options.router.address, `BFD ${this.#prefix}`, this.#head, now), ...tails];
  }

  #sessions(): BfdSession[] {
    const tails = [...this.#tails.values()].map(({ session }) => session);
    return this.#head === undefined ? tails : [this.#head, ...tails];
  }

  #sessionOf(
    discriminator: number,
    path: string,
    { send }: Pick<BfdEvents, 'send'>,
    remoteDiscriminator = 0,
  ): BfdSession {
    const { txMs, rxMs, multiplier } = this.#options.profile.bfd;
    const timers = { txMs, rxMs, multiplier, isPassive: false, random: Math.random };
    return new BfdSession(
      { discriminator, remoteDiscriminator, ...timers },
      {
        send,
        onChange: (isUp, reason, silentMs) => {
          if (silentMs > 0) this.#context.recordDetection(Math.round(silentMs * 1000));
          const text = `BFD over ${path} ${isUp ? 'up' : `down: ${reason}`}`;
          this.#context.event('mpls-oam', this.#options.router, text);
        },
      },
    );
  }

  /** To an address that no router forwards to (RFC 5884, section 7). */
  #sendAlong(bytes: Uint8Array): void {
    const path = this.#options.path(lastHop);
    if (path === undefined) return;
    const { host, profile } = this.#options;
    const destination = parseAddress(profile.ping.destination);
    const ports = this.#portsTo(bfdPorts['single-hop']);
    sendDatagramFrame(this.#context, { ...path, host, source: this.#local, destination, ttl: 1, ports }, bytes);
  }

  #sendBack(bytes: Uint8Array, { source: destination, mac }: Asker): void {
    const ports = this.#portsTo(bfdPorts['multi-hop']);
    const { host } = this.#options;
    sendDatagramFrame(this.#context, { host, mac, source: this.#local, destination, ttl: lastHop, ports }, bytes);
  }

  #portsTo(port: number): number {
    return (firstBfdSourcePort << 16) | port;
  }
}

const keyOf = (source: Int32Array, discriminator: number): string => `${formatAddress(source)} ${discriminator}`;
