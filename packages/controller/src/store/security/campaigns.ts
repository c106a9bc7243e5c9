import type { Campaign, CampaignStep } from '@rushhour/contract';
import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import { setLinks } from '../engine/links.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

export const campaigns = createTable('campaigns');
export type StoredCampaign = NonNullable<Awaited<ReturnType<typeof campaigns.find>>>;

/** Ids up to this one belong to built-in campaigns. */
const lastShipped = 1000;

const byName = statement((db, p: { name: string }) =>
  db.selectFrom('campaigns').select(['id', 'name']).where('name', '=', p.name).orderBy('id').limit(10),
);
const newest = statement((db, _: object) => db.selectFrom('campaigns').select('id').orderBy('id', 'desc').limit(1));
const every = statement((db, _: object) => db.selectFrom('campaigns').select('id').orderBy('id').limit(10_000));

export const campaignsNamed = (executor: Executor, name: string) => byName.all(executor, { name });

export const allCampaigns = async (executor: Executor): Promise<StoredCampaign[]> =>
  campaigns.findMany(
    executor,
    (await every.all(executor, {})).map(({ id }) => id),
  );

interface NewCampaign {
  readonly name: string;
  readonly description: string;
  readonly version: number;
  readonly tags: string;
  readonly parameters: Campaign['parameters'];
  readonly steps: CampaignStep[];
}

/** Changes are serialized, so no other change takes the same id. */
export const insertCampaign = async (tx: Change, campaign: NewCampaign, used: Parameters<typeof setLinks>[2]) => {
  const id = Math.max((await newest.first(tx, {}))?.id ?? 0, lastShipped) + 1;
  await campaigns.insert(tx, { ...campaign, id });
  await setLinks(tx, { kind: 'campaign', id, name: campaign.name }, used);
  return id;
};
