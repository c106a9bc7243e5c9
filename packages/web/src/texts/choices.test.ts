import {
  api,
  campaignParams,
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
import { findChoiceLabel } from './choices.ts';

interface Choice {
  readonly member: string;
  readonly value: string;
}

/** Every value of an enumeration below a schema. */
const choicesIn = (given: Schema, member = ''): Choice[] => {
  const { enum: values = [], properties = {}, items, anyOf = [] } = withoutNull(given);
  return [
    ...values.filter((value) => value !== '' && value !== null).map((value) => ({ member, value: String(value) })),
    ...Object.entries(properties).flatMap(([name, inner]) => choicesIn(inner, name)),
    ...(items === undefined ? [] : choicesIn(items, member)),
    ...anyOf.flatMap((one) => choicesIn(one, member)),
  ];
};

/** Versions and sizes are their own labels. */
const isNumber = (value: string) => /^[\d.]+$/.test(value);
const unlabelled = (choices: readonly Choice[]) => [
  ...new Set(
    choices
      .filter(({ member, value }) => !isNumber(value) && findChoiceLabel(value, member) === undefined)
      .map(({ member, value }) => `${member}: ${value}`),
  ),
];
const schema = (value: unknown) => value as Schema;
const bodyOf = (route: { body?: unknown }) => schema(route.body);

const forms = (['create', 'update'] as const).flatMap((operation) =>
  resources.flatMap(({ name, form, formMore = [] }) => {
    const body = routeOf(name, operation)?.body as unknown as ObjectSchema | undefined;
    return body === undefined || name === 'tasks' ? [] : choicesIn(writableOf(body, form && [...form, ...formMore]));
  }),
);
const records = resources.flatMap(({ name }) =>
  Object.entries(memberSchemas(name)).flatMap(([member, inner]) => choicesIn(inner, member)),
);
const filters = resources.flatMap(({ name }) => filtersOf(name).flatMap(([member, inner]) => choicesIn(inner, member)));
const tasks = api.tasks.routes;

it('finds a value without a label', () => {
  const inner = { items: { properties: { mode: { enum: ['tunnel', 'new-mode', '1.2', ''] } } } };
  expect(unlabelled(choicesIn({ properties: { list: inner } }))).toEqual(['mode: new-mode']);
});

it.each([
  ['forms of records', forms, 100],
  ['records', records, 100],
  ['filters', filters, 50],
  ['values of plugins', plugins.flatMap((plugin) => choicesIn(schema(toJsonSchema(plugin.schema)))), 300],
  ['tunnels', Object.values(tunnelParams).flatMap((params) => choicesIn(schema(params))), 10],
  ['steps of campaigns', Object.values(campaignParams).flatMap((params) => choicesIn(schema(params))), 15],
  ['attempts of security tests', choicesIn(schema(api.cve.routes.results.reply)), 45],
  ['campaigns', choicesIn(schema(api.compromisedHost.routes.list.reply)), 60],
  ['settings', choicesIn(schema(Settings)), 10],
  ['thresholds', choicesIn(schema(Threshold)), 20],
  ['AI keys', choicesIn(keySchema()), 10],
  ['tasks', choicesIn(schema(TaskDraft)), 2],
  ['starts of tasks', choicesIn(bodyOf(tasks.start)), 4],
  ['schedules', choicesIn(bodyOf(tasks.schedule)), 5],
  ['certificates', choicesIn(bodyOf(api.certificates.routes.create)), 20],
  ['applications', choicesIn(bodyOf(api.applications.routes.create)), 15],
  ['test files', choicesIn(bodyOf(api.malware.routes.generate)), 15],
] as const)('labels every value of %s', (_, choices, atLeast) => {
  expect(choices.length).toBeGreaterThanOrEqual(atLeast);
  expect(unlabelled(choices)).toEqual([]);
});
