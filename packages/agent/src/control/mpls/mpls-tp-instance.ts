import type { PlaneCommand } from '@rushhour/protocol';
import { FlapSchedule, type TpEnd, type TpMessage, TpPath, tpGroupMac } from '@rushhour/wire';
import { ipv4Word } from '../routers/ipv4-word.ts';
import type { MplsTpProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';

const mplsType = 0x8847;
const macBytes = 6;
const ethernetBytes = 14;
const minFrameBytes = 60;
const workingLsp = 1;

/** The label switched paths of a router in the transport profile. Those of a router follow those of the one before it. */
export class MplsTpInstance implements ProtocolInstance {
  readonly protocol = 'mpls-tp';
  readonly router: Router;
  readonly #context: PlaneContext;
  readonly #host: number;
  readonly #profile: MplsTpProfile;
  readonly #first: number;
  readonly #paths: TpPath[] = [];
  readonly #flaps: FlapSchedule;
  #startedAt = 0;
  #upAt: number | undefined;
  /** The path that is interrupted next. */
  #interrupted = 0;

  constructor({ profile, router, host, ordinal }: InstanceOptions<MplsTpProfile>, context: PlaneContext) {
    this.router = router;
    this.#context = context;
    this.#host = host;
    this.#profile = profile;
    this.#first = ordinal * profile.path.count;
    for (let i = 0; i < profile.path.count; i++) this.#paths.push(this.#pathOf(i));
    const { intervalSec, downSec, count } = profile.flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
  }

  get counters(): InstanceCounters {
    const sum: InstanceCounters = { tx: 0, rx: 0, flaps: 0, prefixesSent: 0, prefixesReceived: 0 };
    for (const { counters, session } of this.#paths) {
      sum.tx += counters.tx;
      sum.rx += counters.rx;
      sum.flaps += session.counters.flaps;
    }
    return sum;
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#flaps.start(now);
    for (const path of this.#paths) path.start(now);
  }

  advance(now: number): void {
    const change = this.#flaps.advance(now);
    const path = this.#paths[this.#interrupted] as TpPath;
    if (change === 'down') path.stop(now);
    else if (change === 'up') {
      path.start(now);
      this.#interrupted = (this.#interrupted + 1) % this.#paths.length;
    }
    for (const one of this.#paths) one.advance(now);
  }

  stop(now: number): void {
    for (const path of this.#paths) path.stop(now);
  }

  /** A message that came with one of the labels of this router. */
  receive(message: TpMessage): void {
    const path = this.#paths[message.label - this.#profile.path.labelInStart - this.#first];
    path?.receive(message, performance.now());
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    if (action === 'start' || action === 'linkUp') this.start(now);
    else if (action === 'stop' || action === 'linkDown') this.stop(now);
    else if (action === 'restart' || action === 'disconnect') {
      this.stop(now);
      this.start(now);
    } else return `paths cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const { destinationNode } = this.#profile.path;
    const up = this.#paths.filter(({ session }) => session.isUp).length;
    this.#upAt = up > 0 ? (this.#upAt ?? now) : undefined;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: destinationNode,
        state: up === this.#paths.length ? 'up' : up > 0 ? 'partly up' : 'down',
        isUp: up > 0,
        uptimeMs: Math.round(now - (this.#upAt ?? now)),
        flaps: this.counters.flaps,
        routesSent: this.#paths.length,
        routesReceived: up,
        databaseSize: 0,
        lastError: this.#paths.find(({ session }) => session.lastError !== '')?.session.lastError ?? '',
      },
    ];
  }

  /** The paths, each with its state. */
  routes(limit: number): readonly RouteRow[] {
    const { destinationNode, tunnelIdStart, labelInStart, labelOutStart } = this.#profile.path;
    return this.#paths.slice(0, Math.max(0, limit)).map((path, i) => ({
      router: this.router.address,
      neighbour: destinationNode,
      protocol: this.protocol,
      family: 'lspPath',
      route: `tunnel ${tunnelIdStart + this.#first + i}`,
      nextHop: '',
      detail: `${path.state}, labels ${labelInStart + this.#first + i} in, ${labelOutStart + this.#first + i} out`,
    }));
  }

  #pathOf(i: number): TpPath {
    const { path, oam } = this.#profile;
    const number = this.#first + i;
    const endOf = (node: string): TpEnd => ({
      ...{ globalId: path.globalId, node: ipv4Word(node), lsp: workingLsp },
      tunnel: path.tunnelIdStart + number,
    });
    return new TpPath(
      {
        labelOut: path.labelOutStart + number,
        source: endOf(path.sourceNode),
        destination: endOf(path.destinationNode),
        discriminator: number + 1,
        intervalMs: oam.intervalMs,
        multiplier: oam.multiplier,
        sendsLock: oam.lockInstruct,
        random: Math.random,
      },
      {
        send: (bytes) => this.#send(bytes),
        onChange: (isUp, reason, silentMs) => this.#onChange(number, { isUp, reason, silentMs }),
      },
    );
  }

  #send(packet: Uint8Array): void {
    const { sink, writeMac, scheduleFlush } = this.#context.layers;
    const length = Math.max(minFrameBytes, ethernetBytes + packet.length);
    const at = sink.begin(length, this.#host);
    if (at < 0) return;
    const { bytes, view } = sink.memory;
    bytes.fill(0, at, at + length);
    bytes.set(tpGroupMac, at);
    writeMac(this.#host, bytes, at + macBytes);
    view.setUint16(at + 2 * macBytes, mplsType);
    bytes.set(packet, at + ethernetBytes);
    sink.commit(at, length);
    scheduleFlush();
  }

  #onChange(number: number, change: { isUp: boolean; reason: string; silentMs: number }): void {
    const { isUp, reason, silentMs } = change;
    const now = performance.now();
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else if (silentMs > 0) this.#context.recordDetection(Math.round(silentMs * 1000));
    const { tunnelIdStart, destinationNode } = this.#profile.path;
    const name = `tunnel ${tunnelIdStart + number} to ${destinationNode}`;
    this.#context.event('mpls-tp', this.router, `${name} ${isUp ? 'up' : `down: ${reason}`}`);
  }
}
