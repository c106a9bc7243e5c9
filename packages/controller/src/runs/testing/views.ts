import type { JobOutcome } from '@rushhour/protocol';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import type { RunJob, RunRecord } from '../../store/runs/runs.ts';
import type { RunView } from '../lifecycle/run-view.ts';

export const outcomeOf = (outcome: Partial<JobOutcome> = {}): JobOutcome => ({
  ...{ status: 'finished', error: '', notes: [], saturatedSeconds: {}, lastSeq: 10 },
  ...outcome,
});

export const jobOf = (job: Partial<RunJob> = {}): RunJob => ({
  ...{ entry: 0, pluginId: 1, role: 'client', engine: 'http', target: '127.0.0.1:18080', share: 1, startAfterSec: 0 },
  ...{ canPause: true, canChangeLoad: true, load: null, outcome: null },
  ...job,
});

export const agentOf = (agentID: number, state: string, ...jobs: Partial<RunJob>[]): RunAgentRecord => ({
  ...{ runID: 1, agentID, name: `agent-${agentID}`, role: 'client', state, bootId: 'boot', error: '', updatedAt: '' },
  orders: (jobs.length > 0 ? jobs : [{}]).map(jobOf),
});

export const runOf = (run: Partial<RunRecord> = {}): RunRecord => ({
  ...{
    id: 1,
    taskID: 1,
    number: 1,
    status: 4,
    stopReason: '',
    endStatus: null,
    stopMode: '',
    verdict: 0,
    health: 'ok',
  },
  ...{ validity: { valid: true, reasons: [] }, comment: '', labels: {}, startedBy: null, origin: 'user', priority: 5 },
  ...{ notBefore: null, queuedAt: '', startedAt: null, finishedAt: null, deadlineAt: null, t0: 1000, plannedSec: 10 },
  ...{ pausedAt: null, pausedMs: 0, epoch: 1, attempt: 1, definitionSecrets: {}, definitionHash: '', thresholds: [] },
  definition: { comment: '', accessPlane: [], controlPlane: [], configuration: [], dumps: {} },
  capture: {},
  ...{ agentLossPolicy: 'auto', summary: {}, pinned: false, expiresAt: null, error: '', createdAt: '', updatedAt: '' },
  ...run,
});

export const viewOf = (run: Partial<RunRecord>, ...agents: RunAgentRecord[]): RunView => ({ run: runOf(run), agents });
