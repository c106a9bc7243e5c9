import type { Readable } from 'node:stream';
import { recordedSession } from '../../assets/applications/captures/analyze-job.ts';
import { CaptureFailure, runCaptureTask } from '../../assets/applications/captures/run-capture-task.ts';
import type { CaptureWish, PlanCapture, PlanCaptures } from '../content/plan-captures.ts';

const mostKept = 32;

interface Blobs {
  read(sha256: string): Promise<Readable>;
}

const sessionsOf = async (blobs: Blobs, { file, clientIp }: CaptureWish): Promise<PlanCapture> => {
  const job = { mode: 'stateful', clientIp, parameters: [], sessions: undefined, options: {} };
  try {
    const open = () => blobs.read(file.sha256);
    const { chosen, issues } = await runCaptureTask({ kind: 'analyze', job }, { open });
    const problem = issues.find(({ severity }) => severity === 'error');
    return problem === undefined ? { sessions: chosen.map(recordedSession) } : { problem };
  } catch (error) {
    if (!(error instanceof CaptureFailure)) throw error;
    return { problem: { code: error.code, message: error.message } };
  }
};

/** The sessions of captures as plans use them; those looked at last are remembered, for a plan is made many times. */
export const planCaptures = (blobs: Blobs): PlanCaptures => {
  const kept = new Map<string, PlanCapture>();
  const find = async (wish: CaptureWish): Promise<PlanCapture> => {
    const key = `${wish.file.sha256} ${wish.clientIp}`;
    const found = kept.get(key) ?? (await sessionsOf(blobs, wish));
    kept.delete(key);
    kept.set(key, found);
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - mostKept))) kept.delete(oldest);
    return found;
  };
  return async (wishes) =>
    new Map(await Promise.all(wishes.map(async (wish) => [wish.path, await find(wish)] as const)));
};
