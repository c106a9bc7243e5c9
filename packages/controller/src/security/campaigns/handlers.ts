import type { api, Campaign, CampaignQuery } from '@rushhour/contract';
import { cursorOf, pageRequestOf } from '../../crud.ts';
import type { Handlers } from '../../handler.ts';
import type { Store } from '../../store/store.ts';
import type { FullCampaign } from './campaigns.ts';
import { everyCampaign } from './campaigns.ts';
import { navigatorLayer } from './navigator-layer.ts';

const hasTechnique = ({ techniques }: FullCampaign, wanted: string) =>
  techniques.some((technique) => technique === wanted || technique.startsWith(`${wanted}.`));

const isWanted = (campaign: FullCampaign, query: CampaignQuery) => {
  const { id, technique, tactic, protocol, tag, search = '' } = query;
  const text = `${campaign.name} ${campaign.description} ${campaign.tags}`.toLowerCase();
  return (
    (id === undefined || id.includes(campaign.id)) &&
    (technique === undefined || hasTechnique(campaign, technique)) &&
    (tactic === undefined || campaign.tactics.includes(tactic)) &&
    (protocol === undefined || campaign.protocols.includes(protocol)) &&
    (tag === undefined || campaign.tags.split(',').includes(tag.toLowerCase())) &&
    text.includes(search.toLowerCase())
  );
};

type Key = 'id' | 'name' | 'estimatedMs' | 'updatedAt';

const compare = (a: Campaign, b: Campaign, key: Key) => {
  if (a[key] === b[key]) return a.id - b.id;
  return a[key] < b[key] ? -1 : 1;
};

export const compromisedHostHandlers = ({ store }: { store: Store }): Handlers<typeof api.compromisedHost> => ({
  list: async ({ query }) => {
    const { limit, offset, key, order } = pageRequestOf(query, 'id');
    const include = query.include?.split(',') ?? [];
    const sign = order === 'asc' ? 1 : -1;
    const found = (await everyCampaign(store.read))
      .filter((campaign) => isWanted(campaign, query))
      .sort((a, b) => sign * compare(a, b, key as Key));
    const data = found.slice(offset, offset + limit).map(({ steps, ...light }) => ({
      ...light,
      ...(include.includes('steps') && { steps }),
    }));
    const layer = include.includes('layer') ? { layer: navigatorLayer(found) } : {};
    return { cursor: cursorOf(limit, offset, found.length), data, ...layer };
  },
});
