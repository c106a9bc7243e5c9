import type { CampaignStep } from '@rushhour/contract';
import { stepReferences } from '../../../security/campaigns/action-params.ts';
import { campaigns, knownCampaigns } from '../../../security/campaigns/campaigns.ts';
import { campaignsNamed } from '../../../store/security/campaigns.ts';
import type { Reference } from '../reference.ts';
import type { RecordExporter } from './record-exporter.ts';

const kindOf = { dictionary: 'dictionaries', file: 'files' } as const;

/** Records that the steps of a campaign name. */
const referencesIn = (steps: readonly CampaignStep[]): Reference[] =>
  stepReferences(steps).map(({ kind, id, path }) => ({
    path: `/campaign/steps${path}`,
    kind: kindOf[kind as keyof typeof kindOf],
    id,
  }));

export const campaignExporter: RecordExporter<'compromisedHostCampaigns'> = {
  read: async (executor, id) => {
    const [found] = await knownCampaigns(executor, [id]);
    if (found === undefined) return undefined;
    const { name, description, tags, version, parameters, steps } = found;
    return { campaign: { name, description, tags, version, parameters, steps } };
  },
  nameOf: ({ campaign }) => campaign.name,
  references: ({ campaign: { steps } }) => referencesIn(steps),
  identityOf: ({ campaign: { parameters, steps } }) => ({ parameters, steps }),
  findMatches: async (executor, { campaign: { name } }) => [
    ...campaigns.map(({ id }) => id),
    ...(await campaignsNamed(executor, name)).map(({ id }) => id),
  ],
};
