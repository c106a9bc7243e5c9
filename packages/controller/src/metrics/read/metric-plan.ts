import { commonMetrics, findMetric, findPlugin, type MetricDescription } from '@rushhour/contract';
import { isWorstOf } from '../ingest/cell.ts';
import type { Metric, NameBook } from '../ingest/name-book.ts';
import type { Role, RunFacts, Side } from './run-facts.ts';

/** How a metric is had from what engines report. */
export interface MetricPlan {
  readonly name: string;
  readonly description: MetricDescription;
  /** Numbers of the reported metrics it is made of. */
  readonly sources: ReadonlySet<number>;
  /** amount: counted up; rate: what was counted, in a second; level: as it stands; spread: every single value. */
  readonly kind: 'amount' | 'rate' | 'level' | 'spread';
  readonly scale: number;
  /** Levels of several sources: the worst of them, or all together. */
  readonly isWorst: boolean;
  /** Only what clients say counts. */
  readonly isOfClients: boolean;
  /** Whether such an engine would report it: then silence means 0 for what is counted. */
  isOf(engine: string): boolean;
}

interface Derivation {
  readonly isSource: (metric: Metric) => boolean;
  readonly kind: MetricPlan['kind'];
  readonly scale?: number;
  readonly isOfClients?: boolean;
}

const counted = (pattern: RegExp) => (metric: Metric) => metric.kind === 'counter' && pattern.test(metric.name);
const standing = (pattern: RegExp) => (metric: Metric) => metric.kind === 'gauge' && pattern.test(metric.name);

// Engines over TCP do not know their packets: the kernel makes them from a stream of bytes.
const sent = counted(/^(udp|stream|convergence|pcap-replay|icmp)\.sent$/);
const received = counted(/^(udp|stream|convergence|pcap-replay|icmp)\.received$/);
const begun = counted(
  /^[^.]+\.begun$|^(stream|convergence|pcap-replay)\.sent$|^(waf|cve-replay|malware-transfer|fuzzing|compromised-host)\.(sent|benign)$/,
);
const txBytes = counted(/^[^.]+\.txBytes$/);
const rxBytes = counted(/^[^.]+\.rxBytes$/);

/** The common metrics, each from those of the engines. */
const derivations: Readonly<Record<string, Derivation>> = {
  txPackets: { isSource: sent, kind: 'amount' },
  rxPackets: { isSource: received, kind: 'amount' },
  txBytes: { isSource: txBytes, kind: 'amount' },
  rxBytes: { isSource: rxBytes, kind: 'amount' },
  txPps: { isSource: sent, kind: 'rate' },
  rxPps: { isSource: received, kind: 'rate' },
  txBps: { isSource: txBytes, kind: 'rate', scale: 8 },
  rxBps: { isSource: rxBytes, kind: 'rate', scale: 8 },
  errors: { isSource: counted(/^[^.]+\.errors\./), kind: 'amount' },
  agentCpuPct: { isSource: standing(/^agent\.cpuPct$/), kind: 'level' },
  agentDrops: { isSource: counted(/^(?!stateless-server)[^.]+\.dropped$/), kind: 'amount' },
  scheduleLagMs: { isSource: standing(/^agent\.scheduleLagMs$/), kind: 'level' },
  targetLoad: { isSource: standing(/\.targetLoad$/), kind: 'level', isOfClients: true },
  achievedLoad: { isSource: begun, kind: 'rate', isOfClients: true },
};

const sourcesOf = (names: NameBook, isSource: (metric: Metric) => boolean) =>
  new Set([...names.metrics].filter(([, metric]) => isSource(metric)).map(([number]) => number));

const kindOf = { counter: 'amount', gauge: 'level', histogram: 'spread' } as const;

const defaultDescription = (name: string, type: MetricDescription['type']): MetricDescription => ({
  name,
  unit: type === 'histogram' ? 'µs' : '',
  type,
  labels: [],
  better: 'none',
  description: '',
});

/** First part of the names of an engine's metrics: engines of planes leave `plane.` out. */
const prefixOf = (engine: string): string => engine.replace(/^plane\./, '');

type Known = Pick<RunFacts, 'sides'>;

const describedBy = ({ sides }: Known, name: string): MetricDescription | undefined => {
  for (const pluginId of new Set([...sides.values()].map((side) => side.pluginId))) {
    const plugin = findPlugin(pluginId);
    const found = plugin && findMetric(plugin, name);
    if (found !== undefined) return { ...found, name };
  }
  return undefined;
};

const derivedPlan = (name: string, names: NameBook): MetricPlan | undefined => {
  const derivation = derivations[name];
  const description = commonMetrics.find((metric) => metric.name === name);
  if (derivation === undefined || description === undefined) return undefined;
  const { isSource, kind, scale = 1, isOfClients = false } = derivation;
  const sources = sourcesOf(names, isSource);
  const engines = new Set([...sources].map((number) => names.metrics.get(number)?.name.split('.')[0]));
  return {
    name,
    description,
    sources,
    kind,
    scale,
    isWorst: [...sources].some((number) => isWorstOf(names.metrics.get(number) as Metric)),
    isOfClients,
    // Where no engine counts it, there is no value; 0 would be a claim.
    isOf: (engine) => isAlwaysReported(name) || engines.has(prefixOf(engine)) || engines.has('agent'),
  };
};

/** A name as engines report it, or a family of counters such as `http.errors` and `http.errors.*`. */
const reportedPlan = (name: string, facts: Known, names: NameBook): MetricPlan | undefined => {
  const family = name.replace(/\.\*$/, '');
  const isExact = (metric: Metric) => metric.name === name;
  const isMember = (metric: Metric) => metric.kind === 'counter' && metric.name.startsWith(`${family}.`);
  const exact = sourcesOf(names, isExact);
  const sources = exact.size > 0 ? exact : sourcesOf(names, isMember);
  const [first] = sources;
  const seen = first === undefined ? undefined : names.metrics.get(first);
  const described = describedBy(facts, name) ?? describedBy(facts, `${family}.*`);
  if (seen === undefined && described === undefined) return undefined;
  const type = seen?.kind ?? described?.type ?? 'counter';
  const [engine = ''] = name.split('.');
  return {
    name,
    description: { ...(described ?? defaultDescription(name, type)), name, type },
    sources,
    kind: kindOf[type],
    scale: 1,
    isWorst: seen !== undefined && isWorstOf(seen),
    isOfClients: false,
    isOf: (candidate) => engine === 'agent' || engine === prefixOf(candidate),
  };
};

/** Undefined for a name that neither the run nor its plugins know. */
export const planMetric = (name: string, facts: Known, names: NameBook): MetricPlan | undefined =>
  derivedPlan(name, names) ?? reportedPlan(name, facts, names);

/** Whether one of these sides has ever said something that the metric is made of. */
export const isReportedBy = ({ sources }: MetricPlan, sides: Iterable<Side>, names: NameBook): boolean => {
  for (const { group } of sides) for (const source of sources) if (names.hasReported(group, source)) return true;
  return false;
};

/** Both sides of a replay send and receive: what each of them lost is a direction of its own. */
const isOfBothDirections = (name: string) => name === 'pcap-replay.lost';

/**
 * Whose word counts. Both sides of the traffic may report the same metric, and what a client sent and a server received
 * is not twice as much: that of the clients counts, or that of the servers where clients never speak of it. Of strain
 * everybody tells.
 */
export const authoritativeSide = (plan: MetricPlan, sides: readonly Side[], names: NameBook): Role | 'any' => {
  const [clients, servers] = [
    sides.filter(({ role }) => role === 'client'),
    sides.filter(({ role }) => role === 'server'),
  ];
  if (plan.isWorst || isOfBothDirections(plan.name)) return 'any';
  if (plan.isOfClients || isReportedBy(plan, clients, names)) return 'client';
  if (isReportedBy(plan, servers, names)) return 'server';
  return clients.some(({ engine }) => plan.isOf(engine)) ? 'client' : 'server';
};

/** Failures are always worth a word: none is good to know. */
export const isAlwaysReported = (name: string) => name === 'errors';

/** The common metrics that this run has something for, then all it has reported. */
export const metricsOfRun = (names: NameBook): string[] => {
  const reported = [...new Set([...names.metrics.values()].map(({ name }) => name))].sort();
  const derived = Object.entries(derivations)
    .filter(([name, { isSource }]) => isAlwaysReported(name) || [...names.metrics.values()].some(isSource))
    .map(([name]) => name);
  return [...derived, ...reported];
};

/** Names one may ask for, for people who asked for another one. */
export const knownMetrics = ({ sides }: Known, names: NameBook): string[] => {
  const described = [...sides.values()].flatMap(({ pluginId }) => findPlugin(pluginId)?.metrics ?? []);
  const all = [...Object.keys(derivations), ...metricsOfRun(names), ...described.map(({ name }) => name)];
  return [...new Set(all)].sort();
};
