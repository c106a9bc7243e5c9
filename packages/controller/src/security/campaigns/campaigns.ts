import { hash } from 'node:crypto';
import type { Campaign, CampaignStep } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { allCampaigns, type StoredCampaign, campaigns as stored } from '../../store/security/campaigns.ts';
import type { CampaignScript } from './campaign-script.ts';
import { commandAndControl } from './command-and-control.ts';
import { theftAndMovement } from './theft-and-movement.ts';

const completed = ({ issuer: _, issuerID: __, ...campaign }: StoredCampaign) =>
  completeCampaign({ ...campaign, builtin: false });

/** Campaigns by id, built in or imported with a task; unknown ids are left out. */
export const knownCampaigns = async (executor: Executor, ids: readonly number[]): Promise<FullCampaign[]> => {
  const shipped = ids.flatMap((id) => findCampaign(id) ?? []);
  const others = ids.filter((id) => findCampaign(id) === undefined);
  return others.length === 0 ? shipped : [...shipped, ...(await stored.findMany(executor, others)).map(completed)];
};

export const everyCampaign = async (executor: Executor): Promise<FullCampaign[]> => [
  ...campaigns,
  ...(await allCampaigns(executor)).map(completed),
];

/** The numeric value of a member; `{{name}}` is the default of that parameter. */
const numberIn = (value: unknown, parameters: Campaign['parameters']): number => {
  const [, name] = /^\{\{(\w+)\}\}$/.exec(String(value)) ?? [];
  const given = name === undefined ? value : parameters.find((parameter) => parameter.name === name)?.default;
  const number = Number(given ?? 0);
  return Number.isFinite(number) ? number : 0;
};

/** Exchanges of one iteration of a step. */
const partsOf = ({ params }: CampaignStep, parameters: Campaign['parameters']) => {
  const number = (name: string) => numberIn(params[name], parameters);
  const chunk = number('chunk') || number('chunkBytes');
  return Math.max(1, number('count'), number('attempts'), chunk > 0 ? Math.ceil(number('bytes') / chunk) : 1);
};

/** Duration of the steps by their waits alone. */
export const estimateOf = (steps: readonly CampaignStep[], parameters: Campaign['parameters']) =>
  steps.reduce((sum, step) => {
    const number = (name: string) => numberIn(step.params[name], parameters);
    const eachMs = step.delayMs + number('intervalMs') + number('spacingMs');
    return sum + step.repeat * partsOf(step, parameters) * eachMs + number('ms');
  }, 0);

export type FullCampaign = Campaign & { steps: CampaignStep[] };

const distinct = <T>(values: readonly T[]) => [...new Set(values)].sort();

type Written = Pick<
  FullCampaign,
  'id' | 'name' | 'description' | 'version' | 'tags' | 'parameters' | 'steps' | 'builtin' | 'createdAt' | 'updatedAt'
>;

/** A campaign with the values derived from its steps. */
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

/** Built-in and read-only. */
export const campaigns: readonly FullCampaign[] = [...commandAndControl, ...theftAndMovement].map(shipped);

const byId = new Map(campaigns.map((one) => [one.id, one]));

export const findCampaign = (id: number): FullCampaign | undefined => byId.get(id);
