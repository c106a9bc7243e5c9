import { insertCampaign } from '../../../store/security/campaigns.ts';
import { at } from '../at-place.ts';
import { travellingCampaigns } from '../kinds/campaigns.ts';
import type { Prepare } from './arrival.ts';

const linkKinds = { dictionaries: 'dictionary', files: 'file' } as const;

export const prepareCampaign: Prepare<'compromisedHostCampaigns'> = async ({ campaign }, { rules }) => {
  await at('/campaign', () => rules.campaign(campaign));
  return (tx, name, parts) => {
    const { description = '', tags = '', version, parameters = [], steps } = parts.campaign;
    const used = travellingCampaigns.references(parts).map(({ kind, id }) => ({
      kind: linkKinds[kind as keyof typeof linkKinds],
      id,
    }));
    return insertCampaign(tx, { name, description, tags, version, parameters, steps }, used);
  };
};
