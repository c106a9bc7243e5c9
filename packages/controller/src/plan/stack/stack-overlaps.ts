import { type AddressRange, formatAddress, readRange } from '@rushhour/pools';
import type { HostStack } from '@rushhour/protocol';
import type { PlanAgent } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';

interface StackJob {
  readonly stack?: HostStack;
  readonly agent: PlanAgent;
  readonly path: string;
}

interface HostRange extends AddressRange {
  readonly job: StackJob;
}

/** Every job has an IP stack of its own: two that emulate the same host would reset each other's connections. */
export const reportHostOverlaps = (jobs: readonly StackJob[], issues: PlanIssues): void => {
  const found = jobs.flatMap((job) => rangesOf(job));
  for (const ranges of Map.groupBy(found, ({ link }) => link).values()) {
    const sorted = ranges.map(({ range }) => range).sort((a, b) => (a.first < b.first ? -1 : 1));
    let last: HostRange | undefined;
    for (const range of sorted) {
      if (last !== undefined && range.first <= last.last) reportOverlap(range, last, issues);
      if (last === undefined || range.last > last.last) last = range;
    }
  }
};

/** Hosts in different VLANs or tunnels never meet. */
const rangesOf = (job: StackJob): { link: string; range: HostRange }[] => {
  const { stack } = job;
  if (stack === undefined) return [];
  const { vlan, tunnel, networks } = stack;
  const inner = { link: tunnel ? [vlan, tunnel.type, tunnel.params] : vlan, networks };
  const outer = tunnel ? [{ link: vlan, networks: [tunnel.outer] }] : [];
  return [inner, ...outer].flatMap(({ link, networks: all }) =>
    all
      .flatMap(({ hosts }) => hosts)
      .flatMap((text) => {
        const range = readRange(text);
        return 'code' in range ? [] : [{ link: JSON.stringify([range.version, link]), range: { ...range, job } }];
      }),
  );
};

const reportOverlap = ({ first, version, job }: HostRange, { job: other }: HostRange, issues: PlanIssues): void => {
  if (job === other) return;
  const message = `${formatAddress(version, first)} is emulated for ${other.path} as well: give each an address of its own`;
  issues.error({ path: job.path, agentId: job.agent.id }, 'ADDRESS_OVERLAP', message);
};
