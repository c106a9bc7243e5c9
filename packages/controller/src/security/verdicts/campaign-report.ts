import type { AttackResult, NavigatorLayer } from '@rushhour/contract';
import { layerOf } from '../campaigns/navigator-layer.ts';
import { type AttackCounts, countsOf, rateOf } from './rates.ts';

type SampleResult = Pick<AttackResult, 'kind' | 'variant' | 'outcome' | 'refName'> & { readonly category: string };
type Row = AttackCounts & { readonly name: string };

export interface MalwareReport {
  readonly byType: readonly Row[];
  /** Container of the samples; `plain` for none. */
  readonly byContainer: readonly Row[];
  /** For example `http-download`. */
  readonly byTransport: readonly Row[];
  /** Containers in which at least one EICAR test file passed: what they hold is known to every scanner. */
  readonly missedContainers: readonly string[];
}

const groupedBy = (results: readonly SampleResult[], nameOf: (result: SampleResult) => string): Row[] =>
  [...Map.groupBy(results, nameOf)]
    .map(([name, all]) => ({ name, ...countsOf(all) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

const isEicar = ({ refName }: SampleResult) => /eicar/i.test(refName);

/** Variants of samples start with `container/transport`. */
const partOf = ({ variant }: SampleResult, part: 0 | 1) => variant.split('/')[part] ?? '';

/** The part of a report about samples; undefined if none was transferred. */
export const malwareReport = (results: readonly SampleResult[]): MalwareReport | undefined => {
  const samples = results.filter(({ kind, outcome }) => kind === 'malware' && outcome !== 'skipped');
  if (samples.length === 0) return undefined;
  const byContainer = groupedBy(samples, (result) => partOf(result, 0));
  return {
    byType: groupedBy(samples, ({ category }) => category),
    byContainer,
    byTransport: groupedBy(samples, (result) => partOf(result, 1)),
    missedContainers: groupedBy(samples.filter(isEicar), (result) => partOf(result, 0))
      .filter(({ passed }) => passed > 0)
      .map(({ name }) => name),
  };
};

type Result = Pick<
  AttackResult,
  | 'kind'
  | 'refName'
  | 'variant'
  | 'outcome'
  | 'mechanism'
  | 'techniques'
  | 'startedAt'
  | 'durationMs'
  | 'client'
  | 'server'
> & { readonly category: string };

export interface CampaignReport {
  /** Steps in the order of execution. */
  readonly timeline: readonly (Pick<Result, 'refName' | 'variant' | 'outcome' | 'mechanism' | 'techniques'> & {
    readonly at: string;
    readonly tactic: string;
    readonly durationMs: number;
  })[];
  /** All steps there are; the timeline shows the first of them. */
  readonly steps: number;
  /** What TLS clients offered, and what arrived where the path changed it. */
  readonly hellos: readonly (TlsPrint & {
    readonly steps: readonly string[];
    readonly attempts: number;
    readonly changed: readonly string[];
  })[];
  /** For the ATT&CK Navigator: the score is the block rate in percent. */
  readonly layer: NavigatorLayer;
}

type TlsPrint = NonNullable<AttackResult['client']['tls']>;

const hellosOf = (steps: readonly Result[]): CampaignReport['hellos'] => {
  const seen = steps.flatMap((step) => (step.client.tls === undefined ? [] : { ...step, print: step.client.tls }));
  const byPrint = Map.groupBy(seen, ({ print }) => `${print.ja3} ${print.ja4}`);
  return [...byPrint.values()].map((all) => {
    const { ja3, ja4 } = (all[0] as (typeof all)[number]).print;
    const arrived = all.flatMap(({ server }) => (server.tls === undefined ? [] : server.tls));
    return {
      ...{ ja3, ja4, attempts: all.length, steps: [...new Set(all.map(({ variant }) => variant))] },
      changed: [...new Set(arrived.filter((print) => print.ja3 !== ja3).map((print) => print.ja4))],
    };
  });
};

const maxSteps = 5000;
const isStopped = ({ outcome }: Result) => outcome === 'blocked' || outcome === 'modified';

const cellsOf = (steps: readonly Result[]) => {
  const byCell = Map.groupBy(
    steps.filter(({ techniques }) => techniques.length > 0),
    ({ techniques, category }) => `${techniques[0]} ${category}`,
  );
  return [...byCell]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([cell, all]) => {
      const [techniqueID = '', tactic = ''] = cell.split(' ');
      const passed = all.filter(({ outcome }) => outcome === 'passed').length;
      const stopped = all.filter(isStopped).length;
      const { value } = rateOf(stopped, stopped + passed);
      const comment = value === null ? 'not decided' : `${stopped} of ${stopped + passed} stopped`;
      return { techniqueID, tactic, score: Math.round((value ?? 0) * 100), comment };
    });
};

/** The part of a report about campaigns; undefined if none ran. */
export const campaignReport = (results: readonly Result[]): CampaignReport | undefined => {
  const steps = results.filter(({ kind, outcome }) => kind === 'campaign' && outcome !== 'skipped');
  if (steps.length === 0) return undefined;
  return {
    steps: steps.length,
    hellos: hellosOf(steps),
    timeline: steps
      .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
      .slice(0, maxSteps)
      .map(({ startedAt, category, refName, variant, outcome, mechanism, techniques, durationMs }) => ({
        ...{ at: startedAt, tactic: category, refName, variant, outcome, mechanism, techniques, durationMs },
      })),
    layer: layerOf(cellsOf(steps), {
      name: 'Blocked by the device',
      description: 'Score: percentage of the attempts of a technique that were stopped',
      gradient: { colors: ['#d7301f', '#fee8c8', '#1a9850'], minValue: 0, maxValue: 100 },
      legendItems: [
        { label: 'nothing was stopped', color: '#d7301f' },
        { label: 'everything was stopped', color: '#1a9850' },
      ],
    }),
  };
};
