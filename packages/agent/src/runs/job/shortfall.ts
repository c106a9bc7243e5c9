import type { LoadShortfall } from '@rushhour/protocol';
import type { Metric } from '../../samples.ts';
import type { GeneratorLoad } from './generator-load-monitor.ts';

/** A larger part of the wanted events that were not begun is reported. */
const toleratedShare = 0.01;
/** Engines whose frames are begun when they are sent. */
const countsSent: ReadonlySet<string> = new Set(['convergence', 'pcap-replay', 'stream']);
const busyPct = 85;
const machineBusyPct = 95;

const countOf = (metrics: readonly Metric[], name: RegExp): number =>
  metrics
    .filter((metric) => metric.kind === 'counter' && name.test(metric.name))
    .reduce((sum, { buffer }) => sum + (new Float64Array(buffer)[0] as number), 0);

/** Collects, while the load is behind its schedule, what the generator did, to name the limit at the end. */
export class ShortfallWatch {
  #behindSeconds = 0;
  #cpuPct = 0;
  #machinePct = 0;
  #socketErrors = 0;
  #waitsForPeer = false;

  take(load: GeneratorLoad): void {
    this.#socketErrors += load.socketErrors;
    if (load.overdue === 0) return;
    this.#behindSeconds++;
    this.#cpuPct += load.cpuPct;
    this.#machinePct += load.machinePct;
    this.#waitsForPeer ||= load.waitsForPeer;
  }

  /** Undefined if the load was reached, or if there was no rate to reach. */
  result(metrics: readonly Metric[], { engine, cores }: { engine: string; cores: number }): LoadShortfall | undefined {
    if (!metrics.some(({ name }) => name === `${engine}.targetLoad`)) return undefined;
    const begun = countOf(metrics, new RegExp(`^${engine}\\.${countsSent.has(engine) ? 'sent' : 'begun'}$`));
    const dropped = countOf(metrics, new RegExp(`^${engine}\\.dropped$`));
    const wanted = begun + dropped;
    if (dropped <= 1 || dropped < toleratedShare * wanted) return undefined;
    return { wanted, begun, ...this.#limit(metrics, cores) };
  }

  #limit(metrics: readonly Metric[], cores: number): Pick<LoadShortfall, 'limit' | 'evidence'> {
    const seconds = Math.max(1, this.#behindSeconds);
    const cpuPct = this.#cpuPct / seconds / cores;
    const machinePct = this.#machinePct / seconds;
    const cpu = `the generator used ${Math.round(cpuPct)} % of its processor cores`;
    const queueFull = countOf(metrics, /\.queueFull$/);
    if (this.#socketErrors > 0)
      return {
        limit: 'sockets',
        evidence: `${this.#socketErrors} local socket errors: no ports, descriptors or buffers`,
      };
    if (cpuPct >= busyPct) return { limit: 'processor', evidence: cpu };
    if (machinePct >= machineBusyPct)
      return { limit: 'processor', evidence: `the machine was ${Math.round(machinePct)} % busy, ${cpu}` };
    if (this.#waitsForPeer) return { limit: 'peer', evidence: `all sessions were waiting for answers, ${cpu}` };
    const blocked = queueFull > 0 ? `the send queue of the interface was full ${queueFull} times` : 'sending blocked';
    return { limit: 'path', evidence: `${blocked}, ${cpu}` };
  }
}
