import { type AgentInterface, Job, type Question } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { gatewayProblem } from '../../machine/gateway-problem.ts';
import { describeInterfaces } from '../../machine/interfaces.ts';
import { defaultAllowedTargets } from '../../net/addresses/resolve-targets.ts';
import type { Problem } from '../child/child-messages.ts';
import { RunChild } from './run-child.ts';
import { effectiveTargets } from './target-limits.ts';

const timeoutMs = 20_000;
const silenceMs = 60_000;

/** Our codes for system errors. */
const codeNames: Record<string, string> = {
  EADDRINUSE: 'PORT_IN_USE',
  EADDRNOTAVAIL: 'ADDRESS_NOT_AVAILABLE',
  EACCES: 'NOT_PERMITTED',
  EPERM: 'NOT_PERMITTED',
  ENOTFOUND: 'NAME_NOT_FOUND',
  EAI_AGAIN: 'NAME_NOT_FOUND',
};

const problemOfAll = (orders: readonly Job[], code: string, message: string): Problem[] =>
  orders.map((_, order) => ({ order, code, message }));

/**
 * Prepares all jobs in a process of their own, as a run would, and stops them before anything is sent. Everything is
 * closed again when it resolves.
 */
const dryRun = async (
  orders: readonly Job[],
  files: ReadonlyMap<string, string>,
  cacheFolder: string,
): Promise<readonly Problem[]> => {
  const exited = Promise.withResolvers<void>();
  let problems: readonly Problem[] | undefined;
  const child = new RunChild(cacheFolder, {
    message: (message) => {
      if (message.type === 'prepareFailed') problems = message.problems;
      if (message.type !== 'prepared') return;
      problems = [];
      child.send({ type: 'stop', mode: 'abort', orders: [...orders.keys()] });
    },
    line: () => {},
    exited: (reason) => {
      problems ??= problemOfAll(orders, 'ENGINE_CRASHED', reason);
      exited.resolve();
    },
  });
  const timer = setTimeout(() => {
    problems ??= problemOfAll(orders, 'TIMEOUT', `not prepared within ${timeoutMs / 1000} s`);
    child.kill();
  }, timeoutMs);
  child.send({ type: 'prepare', orders, files, silenceMs, isCaptured: false, isDryRun: true });
  await exited.promise;
  clearTimeout(timer);
  return (problems ?? []).map((problem) => ({ ...problem, code: codeNames[problem.code] ?? problem.code }));
};

export interface ProbeDeps {
  readonly cacheFolder: string;
  readonly allowedTargets: readonly string[];
  readonly files: ReadonlyMap<string, string>;
}

interface Candidate {
  readonly index: number;
  readonly order: Job;
}

// TypeBox's own types are slow to check here and add nothing.
const { Check, Errors } = value as unknown as {
  Check(schema: TSchema, value: unknown): boolean;
  Errors(schema: TSchema, value: unknown): { instancePath: string; message: string }[];
};

/** Index of problems of the machine that belong to no job. */
const noJob = -1;

const candidateOf = (order: unknown, index: number, deps: ProbeDeps): Candidate | Problem => {
  if (!Check(Job, order)) {
    const named = Errors(Job, order).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
    return { order: index, code: 'BAD_ORDER', message: named.join('; ') };
  }
  const { allowedTargets = defaultAllowedTargets } = order as Job;
  try {
    const allowed = effectiveTargets(allowedTargets, deps.allowedTargets);
    return { index, order: { ...(order as Job), allowedTargets: allowed } };
  } catch (error) {
    return { order: index, code: 'BAD_CONFIGURATION', message: (error as Error).message };
  }
};

const addressesIn = (config: unknown): string[] => {
  type Named = { listen?: { host?: string }[]; sources?: { addresses?: string[] } };
  const { listen = [], sources } = (config ?? {}) as Named;
  return [...listen.flatMap(({ host }) => host ?? []), ...(sources?.addresses ?? [])];
};

const linkProblems = ({ index, order }: Candidate, interfaces: readonly AgentInterface[]): Problem[] =>
  addressesIn(order.config).flatMap((address) => {
    const owner = interfaces.find(({ ips }) => ips.some((ip) => ip.split('/')[0] === address.split('/')[0]));
    if (owner?.link !== 'down') return [];
    return [{ order: index, code: 'LINK_DOWN', message: `${address} is on ${owner.name}, whose link is down` }];
  });

/** Dry run: finds everything that would keep these jobs from running on this machine. */
export const probe = async (
  { orders, gateways }: Extract<Question, { kind: 'probe' }>,
  deps: ProbeDeps,
): Promise<{ problems: Problem[] }> => {
  const checked = orders.map((order, index) => candidateOf(order, index, deps));
  const candidates = checked.filter((entry): entry is Candidate => 'index' in entry);
  const bad = checked.filter((entry): entry is Problem => 'code' in entry);
  const interfaces = await describeInterfaces('');
  const [unreachable, unprepared] = await Promise.all([
    Promise.all(gateways.map(gatewayProblem)),
    candidates.length === 0
      ? []
      : dryRun(
          candidates.map(({ order }) => order),
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
