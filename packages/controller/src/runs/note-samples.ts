import type { ConfigurationEntry } from '@rushhour/contract';
import type { Change } from '../store/change.ts';
import { catalogue } from '../store/malware.ts';
import { sampleWish } from './plan/plan-samples.ts';
import type { CheckedStart } from './start-check.ts';

/** Says in the audit entry of a start which samples will travel between which agents. */
export const noteSamples = async (tx: Change, { definition, plan }: CheckedStart) => {
  const wish = sampleWish(definition.configuration as ConfigurationEntry[]);
  if (wish === undefined || wish.ids.length === 0) return;
  const samples = await catalogue.findMany(tx, wish.ids);
  for (const { id } of samples) tx.touch('malware', id);
  tx.note({ samples: samples.map(({ sha256 }) => sha256), agents: plan.agents.map(({ agentId }) => agentId) });
};
