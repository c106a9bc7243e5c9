import type { Samples } from '../../engine.ts';
import type { InstanceCounters, NeighbourRow, ProtocolInstance } from './router.ts';

const zero = (): InstanceCounters => ({ tx: 0, rx: 0, flaps: 0, prefixesSent: 0, prefixesReceived: 0 });
const names = Object.keys(zero()) as (keyof InstanceCounters)[];

/** Metrics of all routers: sums over the instances. */
export class PlaneMeters {
  readonly adjacency;
  readonly detection;
  /** Delays of joining and leaving multicast groups. */
  readonly join;
  readonly leave;
  readonly #samples: Samples;
  readonly #sessionsUp;
  readonly #database;
  readonly #counters;
  readonly #reported = new Map<string, InstanceCounters>();

  constructor(samples: Samples) {
    this.#samples = samples;
    this.adjacency = samples.histogram('control.adjacency');
    this.detection = samples.histogram('control.bfdDetect');
    this.join = samples.histogram('control.join');
    this.leave = samples.histogram('control.leave');
    this.#sessionsUp = samples.gauge('control.sessionsUp');
    this.#database = samples.gauge('control.lsdbSize');
    this.#counters = {
      flaps: samples.counter('control.flaps'),
      prefixesSent: samples.counter('control.prefixesSent'),
      prefixesReceived: samples.counter('control.prefixesReceived'),
    };
  }

  /** `neighbours` are those of each instance. */
  report(instances: readonly ProtocolInstance[], neighbours: readonly (readonly NeighbourRow[])[]): void {
    const sums = new Map<string, InstanceCounters>();
    for (const { protocol, counters } of instances) {
      const sum = sums.get(protocol) ?? zero();
      for (const name of names) sum[name] += counters[name];
      sums.set(protocol, sum);
    }
    let up = 0;
    let database = 0;
    for (const rows of neighbours) {
      for (const { isUp } of rows) if (isUp) up++;
      // All neighbours of a router share its database.
      database += rows[0]?.databaseSize ?? 0;
    }
    for (const [protocol, sum] of sums) this.#add(protocol, sum);
    this.#sessionsUp.set(up);
    this.#database.set(database);
  }

  #add(protocol: string, sum: InstanceCounters): void {
    const before = this.#reported.get(protocol) ?? zero();
    for (const name of names) {
      const counter =
        name === 'tx' || name === 'rx' ? this.#samples.counter(`control.${name}.${protocol}`) : this.#counters[name];
      counter.add(sum[name] - before[name]);
    }
    this.#reported.set(protocol, sum);
  }
}
