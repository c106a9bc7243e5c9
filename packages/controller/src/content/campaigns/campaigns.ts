import { hash } from 'node:crypto';
import type { Campaign, CampaignStep } from '@rushhour/contract';
import type { CampaignScript } from './campaign-script.ts';
import { commandAndControl } from './command-and-control.ts';
import { estimateOf } from './estimate.ts';
import { theftAndMovement } from './theft-and-movement.ts';

export type FullCampaign = Campaign & { steps: CampaignStep[] };

const distinct = <T>(values: readonly T[]) => [...new Set(values)].sort();

/** A campaign with all that follows from its steps. */
const complete = ({
  id,
  name,
  description,
  version,
  day,
  tags,
  parameters = [],
  steps,
}: CampaignScript): FullCampaign => {
  const real = steps.filter(({ action }) => action !== 'wait');
  const techniques = distinct(real.map(({ technique }) => technique));
  const time = `${day}T00:00:00.000Z`;
  return {
    ...{ id, name, description, version, tags, parameters, steps, builtin: true },
    tactics: distinct(real.map(({ tactic }) => tactic)),
    techniques,
    protocols: distinct(real.map(({ protocol }) => protocol)),
    attackVersion: 'enterprise-attack 16',
    estimatedMs: estimateOf(steps, parameters),
    services: distinct(real.map(({ protocol, port }) => (port === 0 ? protocol : `${protocol}:${port}`))),
    references: techniques.map((technique) => ({ type: 'attack', value: technique })),
    fingerprint: hash('sha256', JSON.stringify([parameters, steps])),
    createdAt: time,
    updatedAt: time,
  };
};

/** Shipped with the controller; nobody writes them. */
export const campaigns: readonly FullCampaign[] = [...commandAndControl, ...theftAndMovement].map(complete);

const byId = new Map(campaigns.map((one) => [one.id, one]));

export const findCampaign = (id: number): FullCampaign | undefined => byId.get(id);
