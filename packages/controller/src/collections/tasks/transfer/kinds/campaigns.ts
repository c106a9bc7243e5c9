import type { CampaignStep } from '@rushhour/contract';
import { campaigns } from '../../../../content/campaigns/campaigns.ts';
import { knownCampaigns } from '../../../../content/campaigns/known-campaigns.ts';
import { campaignsNamed } from '../../../../store/campaigns.ts';
import type { Reference } from '../reference.ts';
import type { Travelling } from './travelling.ts';

const namedBySteps = { dictionaryId: 'dictionaries', fileID: 'files' } as const;

/** Records that the steps of a campaign name. */
const referencesIn = (steps: readonly CampaignStep[]): Reference[] =>
  steps.flatMap(({ params }, index) =>
    Object.entries(namedBySteps).flatMap(([member, kind]) => {
      const id = params[member];
      return typeof id === 'number' ? [{ path: `/campaign/steps/${index}/params/${member}`, kind, id }] : [];
    }),
  );

export const travellingCampaigns: Travelling<'compromisedHostCampaigns'> = {
  read: async (executor, id) => {
    const [found] = await knownCampaigns(executor, [id]);
    if (found === undefined) return undefined;
    const { name, description, tags, version, parameters, steps } = found;
    return { campaign: { name, description, tags, version, parameters, steps } };
  },
  nameOf: ({ campaign }) => campaign.name,
  references: ({ campaign: { steps } }) => referencesIn(steps),
  essenceOf: ({ campaign: { parameters, steps } }) => ({ parameters, steps }),
  lookAlikes: async (executor, { campaign: { name } }) => [
    ...campaigns.map(({ id }) => id),
    ...(await campaignsNamed(executor, name)).map(({ id }) => id),
  ],
};
