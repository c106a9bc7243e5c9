import type { PlaneCommand, ResultRow, ResultTable } from '@rushhour/protocol';
import type { Samples } from '../engine.ts';
import type { HostNetwork } from '../net/host-network.ts';
import type { Alarm } from '../net/loop/alarm.ts';
import { Site } from './router-site.ts';
import { EvpnFabrics } from './routers/evpn-fabric.ts';
import { NeighbourTable } from './routers/neighbour-table.ts';
import type { RouterSite } from './routers/plan-routers.ts';
import { PlaneMeters } from './routers/plane-meters.ts';
import type { RouteTables } from './routers/route-files.ts';
import { RouteView } from './routers/route-view.ts';
import type { ProtocolInstance } from './routers/router.ts';

/** Timers are looked at this often: BFD has intervals down to 3 ms. */
const tickMs = { default: 10, bfd: 1 } as const;

export interface ControlPlaneDeps {
  openNetwork(stack: RouterSite['stack']): HostNetwork;
  readonly samples: Samples;
  readonly tables: RouteTables;
  putRow(table: ResultTable, row: ResultRow): void;
  progress(message: string): void;
  note(remark: string): void;
}

/** The emulated routers of a job, on all its interfaces. */
export class ControlPlane {
  readonly #sites: Site[] = [];
  readonly #instances: readonly ProtocolInstance[];
  readonly #meters: PlaneMeters;
  readonly #alarm: Alarm;
  readonly #tickMs: number;
  readonly #neighbours: NeighbourTable;
  readonly #routes: RouteView;
  #nextReportAt = 0;
  #dueAt = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(sites: readonly RouterSite[], deps: ControlPlaneDeps) {
    this.#meters = new PlaneMeters(deps.samples);
    const reports = {
      fabrics: new EvpnFabrics(),
      tables: deps.tables,
      recordAdjacency: (us: number) => this.#meters.adjacency.record(us),
      recordDetection: (us: number) => this.#meters.detection.record(us),
      recordJoin: (us: number) => this.#meters.join.record(us),
      recordLeave: (us: number) => this.#meters.leave.record(us),
      event: (protocol: string, router: { readonly address: string }, text: string) =>
        deps.progress(`${router.address} ${protocol}: ${text}`),
    };
    for (const { stack, routers } of sites) {
      const network = deps.openNetwork(stack);
      this.#sites.push(new Site(network, routers, reports));
    }
    this.#instances = this.#sites.flatMap(({ instances }) => instances);
    this.#neighbours = new NeighbourTable(this.#instances, (row) => deps.putRow('neighbours', row));
    this.#routes = new RouteView(this.#instances, {
      putRow: (row) => deps.putRow('routes', row),
      note: deps.note,
    });
    this.#tickMs = this.#instances.some(({ protocol }) => protocol === 'bfd') ? tickMs.bfd : tickMs.default;
    this.#alarm = (this.#sites[0] as Site).createAlarm(() => this.#tick());
  }

  async listen(): Promise<void> {
    for (const site of this.#sites) await site.listen();
  }

  start(): void {
    const now = performance.now();
    for (const instance of this.#instances) instance.start(now);
    this.#tick();
  }

  /** Reports the final tables and ends all sessions. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#alarm.cancel();
    const now = performance.now();
    this.#report(now, true);
    this.#routes.list(this.#instances);
    for (const instance of this.#instances) instance.stop(now);
    for (const site of this.#sites) site.flush();
  }

  /** Carries out a command for rows [from, to] of the table of neighbours. */
  command(command: PlaneCommand): { readonly rejected?: string } {
    const { size } = this.#neighbours;
    const { from = 0, to = size - 1 } = command;
    const now = performance.now();
    const chosen = this.#neighbours.instancesAt(from, to);
    if (chosen.length === 0) return { rejected: `there are ${size} neighbours` };
    if (command.action === 'list') {
      this.#routes.list(chosen);
      return {};
    }
    for (const instance of chosen) {
      const reason = instance.command(command, now);
      if (reason !== undefined) return { rejected: reason };
    }
    for (const site of this.#sites) site.flush();
    return {};
  }

  async close(): Promise<void> {
    this.#alarm.cancel();
    for (const site of this.#sites) await site.close();
  }

  readonly #tick = (): void => {
    if (this.#isStopped) return;
    this.#catchUp();
    const now = performance.now();
    for (const instance of this.#instances) instance.advance(now);
    if (now >= this.#nextReportAt) {
      this.#nextReportAt = now + reportMs;
      this.#report(now, false);
    }
    this.#dueAt = now + this.#tickMs;
    this.#alarm.set(this.#dueAt);
  };

  /** `isAll`: also neighbours that have not changed. */
  #report(now: number, isAll: boolean): void {
    const neighbours = this.#instances.map((instance) => instance.neighbours(now));
    this.#meters.report(this.#instances, neighbours);
    this.#neighbours.report(neighbours, isAll);
  }

  /** A tick that is late must not take neighbours for silent: what they have said meanwhile is heard first. */
  #catchUp(): void {
    if (performance.now() - this.#dueAt < lateMs) return;
    for (const { network } of this.#sites) network.poll();
  }
}

const reportMs = 200;
/** A tick so late may find packets that have waited for it. */
const lateMs = 5;
