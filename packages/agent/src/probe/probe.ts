import { type AgentInterface, Job, type Question } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { describeInterfaces } from '../machine/interfaces.ts';
import { gatewayProblem } from '../machine/neighbours.ts';
import { defaultAllowedTargets } from '../net/addresses/target-guard.ts';
import type { Problem } from '../runs/child/child-messages.ts';
import { effectiveTargets } from '../runs/supervisor/target-limits.ts';
import { rehearse } from './rehearse.ts';

export interface ProbeDeps {
  readonly cacheFolder: string;
  readonly allowedTargets: readonly string[];
  /** Paths of the files on this machine, by hash. */
  readonly files: ReadonlyMap<string, string>;
}

interface Candidate {
  readonly index: number;
  readonly job: Job;
}

// TypeBox's own signatures cost the compiler much here and tell nothing.
const { Check, Errors } = value as unknown as {
  Check(schema: TSchema, value: unknown): boolean;
  Errors(schema: TSchema, value: unknown): { instancePath: string; message: string }[];
};

/** Stands for the machine where a problem belongs to no job. */
const noJob = -1;

const candidateOf = (job: unknown, index: number, deps: ProbeDeps): Candidate | Problem => {
  if (!Check(Job, job)) {
    const named = Errors(Job, job).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
    return { order: index, code: 'BAD_ORDER', message: named.join('; ') };
  }
  const { allowedTargets = defaultAllowedTargets } = job as Job;
  try {
    const allowed = effectiveTargets(allowedTargets, deps.allowedTargets);
    return { index, job: { ...(job as Job), allowedTargets: allowed } };
  } catch (error) {
    return { order: index, code: 'BAD_CONFIGURATION', message: (error as Error).message };
  }
};

const addressesIn = (config: unknown): string[] => {
  type Named = { listen?: { host?: string }[]; sources?: { addresses?: string[] } };
  const { listen = [], sources } = (config ?? {}) as Named;
  return [...listen.flatMap(({ host }) => host ?? []), ...(sources?.addresses ?? [])];
};

const linkProblems = ({ index, job }: Candidate, interfaces: readonly AgentInterface[]): Problem[] =>
  addressesIn(job.config).flatMap((address) => {
    const owner = interfaces.find(({ ips }) => ips.some((ip) => ip.split('/')[0] === address.split('/')[0]));
    if (owner?.link !== 'down') return [];
    return [{ order: index, code: 'LINK_DOWN', message: `${address} is on ${owner.name}, whose link is down` }];
  });

/** A dry run: everything that could keep these jobs from running here, all at once. */
export const probe = async (
  { orders, gateways }: Extract<Question, { kind: 'probe' }>,
  deps: ProbeDeps,
): Promise<{ problems: Problem[] }> => {
  const judged = orders.map((job, index) => candidateOf(job, index, deps));
  const candidates = judged.filter((entry): entry is Candidate => 'index' in entry);
  const bad = judged.filter((entry): entry is Problem => 'code' in entry);
  const interfaces = await describeInterfaces('');
  const [unreachable, unprepared] = await Promise.all([
    Promise.all(gateways.map(gatewayProblem)),
    candidates.length === 0
      ? []
      : rehearse(
          candidates.map(({ job }) => job),
          deps.files,
          deps.cacheFolder,
        ),
  ]);
  const problems = [
    ...bad,
    ...candidates.flatMap((candidate) => linkProblems(candidate, interfaces)),
    ...unprepared.map((problem) => ({ ...problem, order: candidates[problem.order]?.index ?? noJob })),
    ...unreachable
      .filter((message) => message !== undefined)
      .map((message) => ({ order: noJob, code: 'GATEWAY_UNREACHABLE', message })),
  ];
  return { problems: problems.toSorted((a, b) => a.order - b.order) };
};
