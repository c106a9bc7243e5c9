import type { Estimate } from '@rushhour/contract';
import type { AgentPlan } from './agent-plan.ts';
import type { PlannedAttempts } from './attempt-files.ts';
import { peakOf } from './capacity.ts';
import type { PlannedClient } from './plan-entry.ts';
import type { PlanInput } from './plan-input.ts';

const recordHeaderBytes = 32;

interface EstimateFrom {
  readonly agents: readonly AgentPlan[];
  readonly plannedSec: number | null;
  readonly attempts: readonly PlannedAttempts[];
}

/** What a run will amount to, as far as it can be told beforehand. */
export const runEstimateOf = (
  { definition, dumpLimits }: PlanInput,
  clients: readonly PlannedClient[],
  { agents, plannedSec, attempts }: EstimateFrom,
): Estimate => {
  const { connections, txPps, rxPps, txBps, rxBps } = peakOf(clients);
  const pps = txPps + rxPps;
  const bps = txBps + rxBps;
  return {
    agents: agents.length,
    clientIps: clientIps(clients),
    connections,
    pps: Math.round(pps),
    bps: Math.round(bps),
    durationSec: plannedSec,
    dumpBytes: definition.dumps.enabled ? dumpBytes() : 0,
    attempts: attempts.reduce((sum, { count }) => sum + count, 0),
  };

  /** Both sides capture everything, up to what a run may store. */
  function dumpBytes(): number {
    const savelen = definition.dumps.savelen || dumpLimits.defaultSavelen;
    if (plannedSec === null || pps === 0) return dumpLimits.maxBytesPerRun;
    const kept = Math.min(savelen, bps / 8 / pps) + recordHeaderBytes;
    return Math.min(dumpLimits.maxBytesPerRun, Math.round(2 * pps * plannedSec * kept));
  }
};

/** An agent that is left the choice sends from one address. */
const clientIps = (clients: readonly PlannedClient[]): number => {
  const byAgent = new Map<string, number>();
  for (const { agent, source } of clients) {
    const key = `${agent.id} ${JSON.stringify(source.addresses)}`;
    byAgent.set(key, Math.max(1, source.count));
  }
  return [...byAgent.values()].reduce((sum, count) => sum + count, 0);
};
