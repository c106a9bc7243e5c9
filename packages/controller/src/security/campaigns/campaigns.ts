import { hash } from 'node:crypto';
import type { Campaign, CampaignStep } from '@rushhour/contract';
import type { CampaignScript } from './campaign-script.ts';
import { commandAndControl } from './command-and-control.ts';
import { estimateOf } from './estimate.ts';
import { theftAndMovement } from './theft-and-movement.ts';

export type FullCampaign = Campaign & { steps: CampaignStep[] };

const distinct = <T>(values: readonly T[]) => [...new Set(values)].sort();

type Written = Pick<
  FullCampaign,
  'id' | 'name' | 'description' | 'version' | 'tags' | 'parameters' | 'steps' | 'builtin' | 'createdAt' | 'updatedAt'
>;

/** A campaign with all that follows from its steps. */
export const completeCampaign = (written: Written): FullCampaign => {
  const { id, name, description, version, tags, parameters, steps, builtin, createdAt, updatedAt } = written;
  const real = steps.filter(({ action }) => action !== 'wait');
  const techniques = distinct(real.map(({ technique }) => technique));
  return {
    ...{ id, name, description, version, tags, parameters, steps, builtin, createdAt, updatedAt },
    tactics: distinct(real.map(({ tactic }) => tactic)),
    techniques,
    protocols: distinct(real.map(({ protocol }) => protocol)),
    attackVersion: 'enterprise-attack 16',
    estimatedMs: estimateOf(steps, parameters),
    services: distinct(real.map(({ protocol, port }) => (port === 0 ? protocol : `${protocol}:${port}`))),
    references: techniques.map((technique) => ({ type: 'attack', value: technique })),
    fingerprint: hash('sha256', JSON.stringify([parameters, steps])),
  };
};

const shipped = ({ day, parameters = [], ...script }: CampaignScript): FullCampaign => {
  const time = `${day}T00:00:00.000Z`;
  return completeCampaign({ ...script, parameters, builtin: true, createdAt: time, updatedAt: time });
};

/** Shipped with the controller; nobody writes them. */
export const campaigns: readonly FullCampaign[] = [...commandAndControl, ...theftAndMovement].map(shipped);

const byId = new Map(campaigns.map((one) => [one.id, one]));

export const findCampaign = (id: number): FullCampaign | undefined => byId.get(id);
