import type { Executor } from '../../store/engine/database.ts';
import { allCampaigns, type StoredCampaign, campaigns as stored } from '../../store/security/campaigns.ts';
import { campaigns, completeCampaign, type FullCampaign, findCampaign } from './campaigns.ts';

const completed = ({ issuer: _, issuerID: __, ...campaign }: StoredCampaign) =>
  completeCampaign({ ...campaign, builtin: false });

/** Campaigns by id, shipped or brought by an imported task; those that are not there are left out. */
export const knownCampaigns = async (executor: Executor, ids: readonly number[]): Promise<FullCampaign[]> => {
  const shipped = ids.flatMap((id) => findCampaign(id) ?? []);
  const others = ids.filter((id) => findCampaign(id) === undefined);
  return others.length === 0 ? shipped : [...shipped, ...(await stored.findMany(executor, others)).map(completed)];
};

export const everyCampaign = async (executor: Executor): Promise<FullCampaign[]> => [
  ...campaigns,
  ...(await allCampaigns(executor)).map(completed),
];
