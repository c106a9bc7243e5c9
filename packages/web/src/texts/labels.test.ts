import {
  accessProfiles,
  api,
  campaignParams,
  controlProfiles,
  plugins,
  Settings,
  TaskDraft,
  Threshold,
  toJsonSchema,
  tunnelParams,
} from '@rushhour/contract';
import { expect, it } from 'vitest';
import { resources } from '../app/resources/resources.tsx';
import { filtersOf, memberSchemas, routeOf } from '../components/resource/resource.ts';
import { type ObjectSchema, type Schema, withoutNull, writableOf } from '../components/schema-form/schema.ts';
import { keySchema } from '../features/ai-keys/key-schema.ts';
import { labelEntries, labelOf, labels } from './labels.ts';

interface Member {
  readonly name: string;
  readonly path: string;
}

/** Every member below a schema that a form can show. */
const membersIn = (schema: Schema, path = ''): Member[] => {
  const { properties = {}, items } = withoutNull(schema);
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      { name, path: `${path}/${name}` },
      ...membersIn(member, `${path}/${name}`),
    ]),
    ...(items === undefined ? [] : membersIn(items, `${path}/0`)),
  ];
};

const named = (names: readonly string[]): Member[] => names.map((name) => ({ name, path: `/${name}` }));
const unlabelled = (members: readonly Member[]) =>
  members.filter(({ name, path }) => !labels.has(name) && labelOf(name, path) === name).map(({ path }) => path);
const schema = (value: unknown) => value as Schema;

const forms = (['create', 'update'] as const).flatMap((operation) =>
  resources.flatMap(({ name, form, formMore = [] }) => {
    const body = routeOf(name, operation)?.body as unknown as ObjectSchema | undefined;
    if (body === undefined || name === 'tasks') return [];
    return membersIn(writableOf(body, form && [...form, ...formMore]));
  }),
);
const shown = resources.flatMap(({ name, hidden = [] }) =>
  Object.keys(memberSchemas(name)).filter((member) => !hidden.includes(member)),
);
const nested = resources.flatMap(({ name, hidden = [] }) =>
  Object.entries(memberSchemas(name)).flatMap(([member, inner]) =>
    hidden.includes(member) ? [] : membersIn(inner, `/${member}`),
  ),
);
const filters = resources.flatMap(({ name }) => filtersOf(name).map(([member]) => member));
const values = plugins.flatMap((plugin) => membersIn(schema(toJsonSchema(plugin.schema))));
const tunnels = Object.values(tunnelParams).flatMap((params) => membersIn(schema(params)));

const campaigns = Object.values(campaignParams).flatMap((params) => membersIn(schema(params)));

const { data } = (api.files.routes.preview.reply as unknown as ObjectSchema).properties;
const previews = (data?.anyOf ?? []).flatMap((one) => membersIn(one));

it('finds a member without a label', () => {
  expect(
    unlabelled(membersIn({ properties: { name: {}, list: { items: { properties: { newMember: {} } } } } })),
  ).toEqual(['/list', '/list/0/newMember']);
});

it.each([
  ['forms of records', forms, 100],
  ['details of records', named(shown), 150],
  ['members of details', nested, 40],
  ['filters', named(filters), 40],
  ['values of plugins', values, 500],
  ['parameters of tunnels', tunnels, 40],
  ['settings', membersIn(schema(Settings)), 40],
  ['thresholds', membersIn(schema(Threshold)), 8],
  ['AI keys', membersIn(keySchema()), 20],
  ['certificates', membersIn(schema(api.certificates.routes.create.body)), 10],
  [
    'parameters of applications',
    membersIn(schema((api.applications.routes.create.body as unknown as ObjectSchema).properties['parameters'])),
    10,
  ],
  ['schedules', membersIn(schema(api.tasks.routes.schedule.body)), 5],
  ['planes', named([...Object.keys(accessProfiles), ...Object.keys(controlProfiles)]), 20],
  ['file previews', previews, 15],
  ['steps of campaigns', campaigns, 40],
  ['tasks', membersIn(schema(TaskDraft)), 40],
  ['test files', membersIn(schema(api.malware.routes.generate.body)), 6],
] as const)('labels every member of %s', (_, members, atLeast) => {
  expect(members.length).toBeGreaterThan(atLeast);
  expect([...new Set(unlabelled(members))]).toEqual([]);
});

it('has one label for each member: of two, the first would be lost', () => {
  const seen = new Map<string, string>();
  const twice = labelEntries.filter(([name, label]) => {
    const isKnown = seen.has(name);
    seen.set(name, label);
    return isKnown;
  });
  expect(labelEntries.length).toBeGreaterThan(700);
  expect(twice).toEqual([]);
});

it('looks for a label of the parent first', () => {
  expect(labelOf('connections', '/configuration/0/values/httpParams/connections')).toBe(
    'Maximum concurrent connections',
  );
  expect(labelOf('connections', '/values/harReplayParams/connections')).toBe('Connection reuse');
  expect(labelOf('cweIDs')).toBe('CWE IDs');
});
