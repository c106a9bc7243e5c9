import { createHash } from 'node:crypto';
import type { PlaneCommand } from '@rushhour/protocol';
import { BfdSession, BfdSigner, copyAddress, FlapSchedule, parseAddress, parseBfd } from '@rushhour/wire';
import { sendDatagramFrame } from '../routers/datagram-frame.ts';
import { isLinkLocalAddress } from '../routers/plan-routers.ts';
import type { BfdProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';
import { BfdEcho } from './bfd-echo.ts';

export const bfdPorts = { 'single-hop': 3784, 'multi-hop': 4784, micro: 6784 } as const;
/** Source ports of sessions (RFC 5881, section 4). */
export const firstBfdSourcePort = 49_152;
/** Sessions of a member of a link group are for the other end of the member (RFC 7130, section 2.3). */
const microBfdMac = Uint8Array.of(0x01, 0x00, 0x5e, 0x90, 0x00, 0x01);
const sourcePorts = 16_384;

/** What is used where a protocol asks for BFD and the task has no profile for the neighbour. */
export const defaultBfd = (peerAddress: string, kind: 'single-hop' | 'multi-hop'): BfdProfile => ({
  session: {
    ...{ kind, peerAddress, txMs: 300, rxMs: 300, multiplier: 3, passive: false, ttl: 255 },
    ...{ echoMs: 0, demand: false },
  },
  authentication: { kind: 'none', keyId: 0, key: '' },
  flaps: { intervalSec: 0, downSec: 1, count: 0 },
});

const signerOf = ({ authentication, session }: BfdProfile): BfdSigner | undefined => {
  const { kind, keyId, key } = authentication;
  if (kind === 'none') return undefined;
  const algorithm = kind.endsWith('sha1') ? 'sha1' : 'md5';
  return new BfdSigner({
    ...{ kind, keyId, key: new TextEncoder().encode(key), multiplier: session.multiplier, random: Math.random },
    hash: (bytes) => createHash(algorithm).update(bytes).digest(),
  });
};

/** A BFD session of an emulated router. */
export class BfdInstance implements ProtocolInstance {
  readonly protocol = 'bfd';
  readonly session: BfdSession;
  /** Where the session has echoes. */
  readonly echo: BfdEcho | undefined;
  readonly router: Router;
  readonly peer: string;
  /** Own address: the link-local one with a neighbour that has such an address. */
  readonly address: string;
  readonly host: number;
  readonly port: number;
  readonly ttl: number;
  /** Other protocols that end with the session. */
  readonly dependents: ((now: number) => void)[] = [];
  readonly #context: PlaneContext;
  readonly #flaps: FlapSchedule;
  readonly #signer: BfdSigner | undefined;
  readonly #key = new Int32Array(9);
  #startedAt = 0;

  /** `number` counts the sessions of an interface: no two share a discriminator or, among the first 16,384, a port. */
  constructor({ profile, router, host }: InstanceOptions<BfdProfile>, context: PlaneContext, number: number) {
    const { kind, peerAddress, txMs, rxMs, multiplier, passive, ttl, echoMs, demand } = profile.session;
    if (kind === 'seamless') throw new RangeError('seamless BFD is not supported');
    if (peerAddress === undefined)
      throw new RangeError(`BFD of ${router.address} has no neighbour: set session.peerAddress`);
    const isLinkLocal = isLinkLocalAddress(peerAddress);
    this.address = (isLinkLocal ? router.linkLocal : undefined) ?? router.address;
    if (router.isMachine && this.address === router.address)
      throw new RangeError(`BFD of ${router.address}: the machine has this address; set session.localAddress`);
    this.router = router;
    this.peer = peerAddress;
    this.port = bfdPorts[kind];
    this.ttl = ttl;
    this.host = this.address === router.address ? host : context.layers.hostOf(parseAddress(this.address));
    this.#context = context;
    copyAddress(parseAddress(this.address), 0, this.#key, 0);
    copyAddress(parseAddress(peerAddress), 0, this.#key, 4);
    this.#key[8] = ((firstBfdSourcePort + (number % sourcePorts)) << 16) | this.port;
    const { intervalSec, downSec, count } = profile.flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
    const options = { discriminator: number + 1, txMs, rxMs, multiplier, isPassive: passive, random: Math.random };
    this.#signer = signerOf(profile);
    this.echo =
      echoMs === 0 ? undefined : new BfdEcho({ context, host: this.host, local: this.address, peer: peerAddress });
    this.session = new BfdSession(
      { ...options, echoMs, isDemand: demand },
      {
        send: (bytes) => this.#send(this.#signer?.sign(bytes) ?? bytes),
        sendEcho: (bytes) => this.echo?.send(bytes),
        onChange: (isUp, reason, silentMs) => this.#onChange(isUp, reason, silentMs),
      },
    );
  }

  get counters(): InstanceCounters {
    const { tx, rx, flaps, echoes, echoesBack } = this.session.counters;
    return { tx: tx + echoes, rx: rx + echoesBack, flaps, prefixesSent: 0, prefixesReceived: 0 };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#flaps.start(now);
    this.session.start(now);
  }

  advance(now: number): void {
    const change = this.#flaps.advance(now);
    if (change === 'up') this.session.start(now);
    else if (change === 'down') this.session.stop();
    this.session.advance(now);
  }

  stop(): void {
    this.session.stop();
  }

  receive(bytes: Uint8Array, start: number, end: number): void {
    const signer = this.#signer;
    const now = performance.now();
    const packet = parseBfd(bytes, start, end, signer !== undefined);
    if (packet === undefined) return;
    // Numbers of a neighbour are forgotten after twice the time that it may be silent (RFC 5880, section 6.8.1).
    if (signer?.verify(bytes, start, end, { now, forgetMs: 2 * this.session.detectMs }) === false) {
      this.session.lastError = 'packets are signed with another key';
      return;
    }
    this.session.receive(packet, now);
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    if (action === 'stop') this.session.stop();
    else if (action === 'start') this.session.start(now);
    else if (action === 'restart' || action === 'disconnect') {
      this.session.stop();
      this.session.start(now);
    } else return `BFD sessions cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    return [bfdRowOf(this.router.address, this.peer, this.session, now)];
  }

  routes(): readonly RouteRow[] {
    return [];
  }

  #send(bytes: Uint8Array): void {
    const { layers } = this.#context;
    if (this.port !== bfdPorts.micro) layers.group.udp.send(this.#key, this.host, bytes);
    else sendDatagramFrame(this.#context, { ...this.#ends, mac: microBfdMac, ports: this.#key[8] as number }, bytes);
    layers.scheduleFlush();
  }

  get #ends() {
    return { host: this.host, source: this.#key.subarray(0, 4), destination: this.#key.subarray(4, 8), ttl: this.ttl };
  }

  #onChange(isUp: boolean, reason: string, silentMs: number): void {
    const now = performance.now();
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else {
      this.#startedAt = now;
      if (silentMs > 0) this.#context.recordDetection(Math.round(silentMs * 1000));
      for (const end of this.dependents) end(now);
    }
    this.#context.event('bfd', this.router, `session with ${this.peer} ${isUp ? 'up' : `down: ${reason}`}`);
  }
}

/** A session of BFD as a row of the table of neighbours. */
export const bfdRowOf = (router: string, neighbour: string, session: BfdSession, now: number): NeighbourRow => ({
  router,
  protocol: 'bfd',
  neighbour,
  state: session.stateName,
  isUp: session.isUp,
  uptimeMs: session.isUp ? Math.round(now - session.upAt) : 0,
  flaps: session.counters.flaps,
  routesSent: 0,
  routesReceived: 0,
  databaseSize: 0,
  lastError: session.lastError,
});
