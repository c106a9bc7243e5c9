import { type CampaignStep, campaignParams } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';

type Action = CampaignStep['action'];

interface Parameters {
  readonly parameters?: readonly { name: string; type: string; default: string; min: string; max: string }[];
}

const checks = new Map<Action, SchemaCheck>();
const checkOf = (action: Action) => {
  const check = checks.get(action) ?? createSchemaCheck(campaignParams[action]);
  checks.set(action, check);
  return check;
};

/** A value of a parameter as its type wants it; what is no number stays a text and is refused by the schema. */
const typedValue = (type: string, text: string): unknown =>
  type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;

const filled = (value: unknown, values: ReadonlyMap<string, unknown>): unknown => {
  if (Array.isArray(value)) return value.map((part) => filled(part, values));
  if (typeof value !== 'string') return value;
  const [, whole = ''] = /^\{\{(\w+)\}\}$/.exec(value) ?? [];
  if (values.has(whole)) return values.get(whole);
  return value.replace(/\{\{(\w+)\}\}/g, (text, name: string) => (values.has(name) ? String(values.get(name)) : text));
};

/** The params of a step with every parameter in its place, and defaults for what it does not say. */
export const paramsOf = (
  { action, params }: CampaignStep,
  { parameters = [] }: Parameters,
  given: Readonly<Record<string, string>> = {},
): Record<string, unknown> => {
  const values = new Map(
    parameters.map(({ name, type, default: usual }) => [name, typedValue(type, given[name] ?? usual)]),
  );
  const own = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, filled(value, values)]));
  checkOf(action)(own);
  return own;
};

/** What is wrong with the params of a step. */
export const stepIssues = (
  step: CampaignStep,
  campaign: Parameters,
  path: string,
  given: Readonly<Record<string, string>> = {},
): Issue[] => checkOf(step.action)(paramsOf(step, campaign, given), `${path}/params`);
