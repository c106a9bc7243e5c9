import { readFileSync } from 'node:fs';
import type { PlaneCommand } from '@rushhour/protocol';
import { LinkOam, oamFlag, oamGroup, slowProtocols } from '@rushhour/wire';
import type { LinkOamProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';

const macBytes = 6;
const headerBytes = 14;
const eventFlags = {
  none: 0,
  'link-fault': oamFlag.linkFault,
  'dying-gasp': oamFlag.dyingGasp,
  critical: oamFlag.critical,
} as const;

/** The packet of link OAM in a frame, or undefined. */
export const oamPacket = (frame: Uint8Array): Uint8Array | undefined =>
  (((frame[12] ?? 0) << 8) | (frame[13] ?? 0)) === slowProtocols && frame[headerBytes] === 3
    ? frame.slice(headerBytes)
    : undefined;

const statistic = (device: string, name: string): number =>
  Number(readFileSync(`/sys/class/net/${device}/statistics/${name}`, 'utf8'));

/** One end of a link, with the MAC of its router. */
export class LinkOamInstance implements ProtocolInstance {
  readonly protocol = 'link-oam';
  readonly router: Router;
  readonly #oam: LinkOam;
  readonly #context: PlaneContext;
  readonly #host: number;
  readonly #mac = new Uint8Array(macBytes);
  #startedAt = 0;

  constructor({ profile, router, host }: InstanceOptions<LinkOamProfile>, context: PlaneContext) {
    const { discovery, frames, loopback, events } = profile;
    const device = context.layers.interface;
    this.router = router;
    this.#context = context;
    this.#host = host;
    context.layers.writeMac(host, this.#mac, 0);
    const [first = 0, second = 0, third = 0] = this.#mac;
    this.#oam = new LinkOam(
      {
        isActive: discovery.mode === 'active',
        pdusPerSec: discovery.pdusPerSec,
        lostLinkMs: discovery.lostLinkMs,
        maxPduBytes: discovery.maxPduBytes,
        answersVariables: discovery.variables,
        frames: frames.enabled ? frames : undefined,
        loopbackMs: loopback.start ? loopback.durationSec * 1000 : 0,
        event:
          events.kind === 'none' ? undefined : { flag: eventFlags[events.kind], intervalMs: events.intervalSec * 1000 },
        oui: (first << 16) | (second << 8) | third,
      },
      {
        send: (bytes) => this.#send(bytes),
        onChange: (isUp, reason) => this.#onChange(isUp, reason),
        onEvent: (text) => context.event('link-oam', router, text),
        counters: () => ({
          txFrames: statistic(device, 'tx_packets'),
          rxFrames: statistic(device, 'rx_packets'),
          rxErrors: statistic(device, 'rx_errors'),
        }),
      },
    );
  }

  get counters(): InstanceCounters {
    const { tx, rx, flaps } = this.#oam.counters;
    return { tx, rx, flaps, prefixesSent: 0, prefixesReceived: 0 };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#oam.start(now);
  }

  advance(now: number): void {
    this.#oam.advance(now);
  }

  stop(): void {
    this.#oam.stop();
  }

  receive(packet: Uint8Array): void {
    this.#oam.receive(packet, performance.now());
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    if (action === 'start' || action === 'linkUp') this.#oam.start(now);
    else if (action === 'stop') this.#oam.stop();
    else if (action === 'linkDown') this.#oam.interrupt();
    else if (action === 'restart' || action === 'disconnect') {
      if (action === 'restart') this.#oam.interrupt();
      else this.#oam.stop();
      this.#oam.start(now);
    } else return `link OAM cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const { isUp, state, upAt, counters, lastError, remote } = this.#oam;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: remote === undefined ? '' : `OUI ${remote.oui.toString(16).padStart(6, '0')}`,
        state,
        isUp,
        uptimeMs: isUp ? Math.round(now - upAt) : 0,
        flaps: counters.flaps,
        routesSent: 0,
        routesReceived: counters.events + counters.frameErrors,
        databaseSize: 0,
        lastError,
      },
    ];
  }

  routes(): readonly RouteRow[] {
    return [];
  }

  #send(packet: Uint8Array): void {
    const { sink, scheduleFlush } = this.#context.layers;
    const length = headerBytes + packet.length;
    const at = sink.begin(length, this.#host);
    if (at < 0) return;
    const { bytes, view } = sink.memory;
    bytes.set(oamGroup, at);
    bytes.set(this.#mac, at + macBytes);
    view.setUint16(at + 2 * macBytes, slowProtocols);
    bytes.set(packet, at + headerBytes);
    sink.commit(at, length);
    scheduleFlush();
  }

  #onChange(isUp: boolean, reason: string): void {
    const now = performance.now();
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else this.#startedAt = now;
    this.#context.event('link-oam', this.router, isUp ? 'both ends accept each other' : `down: ${reason}`);
  }
}
