import { type ConfigurationEntry, taskReferences } from '@rushhour/contract';
import { sampleRequest } from '../../plan/load/samples.ts';
import { stepReferences } from '../../security/campaigns/action-params.ts';
import { knownCampaigns } from '../../security/campaigns/campaigns.ts';
import type { Change } from '../../store/engine/change.ts';
import { catalogue } from '../../store/security/malware.ts';
import type { CheckedStart } from '../queue/start-check.ts';

/** Adds to the audit entry of a start which samples are sent between which agents. */
export const noteSamples = async (tx: Change, { definition, plan }: CheckedStart) => {
  const configuration = definition.configuration as ConfigurationEntry[];
  const named = taskReferences({ configuration });
  const campaignIds = named.flatMap(({ kind, id }) => (kind === 'campaign' ? [id] : []));
  const inSteps = (await knownCampaigns(tx, campaignIds)).flatMap(({ steps }) => stepReferences(steps));
  const fileIds = [...named, ...inSteps].flatMap(({ kind, id }) => (kind === 'file' ? [id] : []));
  const request = sampleRequest(configuration, fileIds);
  if (request === undefined || request.ids.length === 0) return;
  const samples = await catalogue.findMany(tx, request.ids);
  for (const { id } of samples) tx.touch('malware', id);
  tx.note({ samples: samples.map(({ sha256 }) => sha256), agents: plan.agents.map(({ agentId }) => agentId) });
};
