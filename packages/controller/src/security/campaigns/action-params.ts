import { BlockList, isIP } from 'node:net';
import { type CampaignStep, campaignParams, type FoundReference } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';

/** Reserved names and addresses: RFC 2606, 6761, 5737, 3849. */
const reservedEndings = ['test', 'example', 'invalid', 'localhost'];
const reservedNames = ['example.com', 'example.net', 'example.org'];
const reserved = new BlockList();
for (const prefix of ['192.0.2.0', '198.51.100.0', '203.0.113.0']) reserved.addSubnet(prefix, 24, 'ipv4');
reserved.addSubnet('127.0.0.0', 8, 'ipv4');
reserved.addSubnet('2001:db8::', 32, 'ipv6');

/** Top-level domains that mark a host name; versions and file names have other endings. */
const endings =
  'com|net|org|io|info|biz|ru|cn|de|uk|eu|us|co|dev|app|xyz|top|online|site|cloud|me|tv|cc|gov|edu|mil|int|arpa|onion|local';
const namePattern = new RegExp(`(?<![\\w.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\.)+(?:${endings})(?![\\w-])`, 'gi');
const v4Pattern = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g;
const v6Pattern = /(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi;

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      if (!Array.isArray(value)) yield name;
      yield* textsIn(part);
    }
  }
}

const isReservedName = (name: string) => {
  const lower = name.toLowerCase();
  const isBelow = reservedNames.some((known) => lower === known || lower.endsWith(`.${known}`));
  return isBelow || reservedEndings.includes(lower.split('.').at(-1) ?? '');
};

const isReservedAddress = (address: string) => {
  const version = isIP(address);
  return version === 0 || reserved.check(address, version === 4 ? 'ipv4' : 'ipv6');
};

/** All third-party hosts in a piece of content; built-in content must name none. */
export const foreignNames = (content: unknown): string[] => {
  const found: string[] = [];
  for (const text of textsIn(content)) {
    found.push(...(text.match(namePattern) ?? []).filter((name) => !isReservedName(name)));
    const addresses = [...(text.match(v4Pattern) ?? []), ...(text.match(v6Pattern) ?? [])];
    found.push(...addresses.filter((address) => !isReservedAddress(address)));
  }
  return [...new Set(found)];
};

const kinds = { dictionaryId: 'dictionary', fileID: 'file' } as const;

/** Records referenced by steps; `path` is the pointer into the steps. */
export const stepReferences = (steps: readonly CampaignStep[]): FoundReference[] =>
  steps.flatMap(({ params }, index) =>
    Object.entries(kinds).flatMap(([member, kind]): FoundReference[] => {
      const id = params[member];
      if (typeof id !== 'number') return [];
      const found = { kind, id, path: `/${index}/params/${member}`, beside: params };
      return [kind === 'file' ? { ...found, categories: ['malware'] } : found];
    }),
  );

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

/** Converts a value to the type of its parameter; text that is no number stays text and is refused by the schema. */
const typedValue = (type: string, text: string): unknown =>
  type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;

const filled = (value: unknown, values: ReadonlyMap<string, unknown>): unknown => {
  if (Array.isArray(value)) return value.map((part) => filled(part, values));
  if (typeof value !== 'string') return value;
  const [, whole = ''] = /^\{\{(\w+)\}\}$/.exec(value) ?? [];
  if (values.has(whole)) return values.get(whole);
  return value.replace(/\{\{(\w+)\}\}/g, (text, name: string) => (values.has(name) ? String(values.get(name)) : text));
};

/** The params of a step with all parameters filled in, and defaults for missing ones. */
export const paramsOf = (
  { action, params }: CampaignStep,
  { parameters = [] }: Parameters,
  given: Readonly<Record<string, string>> = {},
): Record<string, unknown> => {
  const values = new Map(
    parameters.map(({ name, type, default: defaultValue }) => [name, typedValue(type, given[name] ?? defaultValue)]),
  );
  const own = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, filled(value, values)]));
  checkOf(action)(own);
  return own;
};

/** The problems of the params of a step. */
export const stepIssues = (
  step: CampaignStep,
  campaign: Parameters,
  path: string,
  given: Readonly<Record<string, string>> = {},
): Issue[] => checkOf(step.action)(paramsOf(step, campaign, given), `${path}/params`);
