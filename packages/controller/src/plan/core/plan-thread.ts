import { setImmediate as nextIteration } from 'node:timers/promises';
import { parentPort, Worker } from 'node:worker_threads';
import type { CveSignature } from '@rushhour/contract';
import type { RunPlan } from './agent-plan.ts';
import type { PlanInput } from './plan-input.ts';

type PartOfInput = { readonly signatures: readonly CveSignature[] } | { readonly rest: Omit<PlanInput, 'signatures'> };
type Answer = { readonly plan: RunPlan } | { readonly problem: string };

/** Copying so many into the thread takes milliseconds. */
const signaturesAtOnce = 250;

/** Plans in a thread of its own: a plan of tens of thousands of attempts takes seconds, in which nobody would be answered. */
export const planInThread = async ({ signatures, ...rest }: PlanInput): Promise<RunPlan> => {
  const thread = new Worker(new URL('./plan-worker.ts', import.meta.url), { execArgv: [] });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  thread.on('message', resolve);
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error('planning needs too much memory')));
  try {
    const all = [...signatures.values()];
    for (let at = 0; at < all.length; at += signaturesAtOnce) {
      thread.postMessage({ signatures: all.slice(at, at + signaturesAtOnce) } satisfies PartOfInput);
      await nextIteration();
    }
    thread.postMessage({ rest } satisfies PartOfInput);
    const answer = await promise;
    if ('problem' in answer) throw new Error(answer.problem);
    return answer.plan;
  } finally {
    await thread.terminate();
  }
};

/** The other end: collects signatures until the rest of the input comes, and answers once. */
export const servePlanning = (planRun: (input: PlanInput) => RunPlan): void => {
  const signatures = new Map<number, CveSignature>();
  parentPort?.on('message', (part: PartOfInput) => {
    if ('signatures' in part) for (const signature of part.signatures) signatures.set(signature.id, signature);
    else parentPort?.postMessage(answerOf(planRun, { ...part.rest, signatures }));
  });
};

const answerOf = (planRun: (input: PlanInput) => RunPlan, input: PlanInput): Answer => {
  try {
    return { plan: planRun(input) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
};

const few = 500;
const payloadsOfModule = 100;

/** About how many attempts the security tests of a task have: enough to decide where it is planned. */
const attemptsIn = ({ definition, signatures }: PlanInput): number => {
  let found = signatures.size;
  JSON.stringify(definition.configuration, (name, value: unknown) => {
    if (name === 'maxCases' && typeof value === 'number') found += value;
    if (name === 'wafModules') found += wafAttempts(value as WafSize);
    return name === 'signatureIds' ? undefined : value;
  });
  return found;
};

interface WafSize {
  readonly modules?: readonly { readonly encoders?: readonly string[]; readonly placeholders?: readonly string[] }[];
  readonly benign?: { readonly sample?: number };
}

const wafAttempts = ({ modules = [], benign }: WafSize): number =>
  modules.reduce(
    (sum, { encoders = [], placeholders = [] }) =>
      sum + Math.max(1, encoders.length) * Math.max(1, placeholders.length) * payloadsOfModule,
    benign?.sample ?? 0,
  );

/** Starting a thread takes longer than a small plan. */
export const needsThread = (input: PlanInput): boolean => attemptsIn(input) > few;
