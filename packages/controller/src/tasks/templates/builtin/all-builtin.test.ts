import { api, entriesOf, plugins } from '@rushhour/contract';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { issuesWithThresholds } from '../../check/task-with-thresholds.ts';
import { issuesOfTemplate } from '../check-template.ts';
import { fillTemplate } from '../fill.ts';
import { sampleOf } from '../parameter-value.ts';
import { allBuiltin } from './all-builtin.ts';
import type { BuiltinTemplate } from './builtin-template.ts';
import { whyWithoutThresholds } from './threshold-presets.ts';

const pluginsOf = ({ task }: BuiltinTemplate) =>
  entriesOf(task['configuration'] as never).flatMap(({ plugin }) => plugin?.name ?? []);

describe('the built-in templates', () => {
  it('are fifty-seven, each with a name of its own', () => {
    expect(allBuiltin).toHaveLength(57);
    expect(new Set(allBuiltin.map(({ name }) => name)).size).toBe(57);
  });

  it.each(allBuiltin.map((builtin) => [builtin.name, builtin] as const))(
    '"%s" could be sent by a user',
    (_, builtin) => {
      expect(Value.Check(api.taskTemplates.routes.create.body, builtin)).toBe(true);
      expect(issuesOfTemplate(builtin, issuesWithThresholds)).toEqual([]);
    },
  );

  it.each(allBuiltin.map((builtin) => [builtin.name, builtin] as const))('"%s" becomes a task', (_, builtin) => {
    const open = builtin.parameters.filter((parameter) => parameter.default === undefined);
    const { task, issues } = fillTemplate(builtin, {
      agentMap: Object.fromEntries(builtin.slots.map(({ name }, index) => [name, index + 1])),
      parameters: Object.fromEntries(open.map((parameter) => [parameter.name, sampleOf(parameter)])),
    });
    expect(issues).toEqual([]);
    expect(issuesWithThresholds(task)).toEqual([]);
    expect(JSON.stringify(task)).not.toMatch(/\$slot|\$param/);
  });

  it.each(allBuiltin.map((builtin) => [builtin.name, builtin] as const))(
    '"%s" becomes a task at its bounds',
    (_, builtin) => {
      const agentMap = Object.fromEntries(builtin.slots.map(({ name }, index) => [name, index + 1]));
      // Warm-up and length bound each other, so they stay as they are.
      const bounded = builtin.parameters.filter(({ name }) => name !== 'seconds' && name !== 'warmUpSec');
      for (const bound of ['min', 'max'] as const) {
        const parameters = Object.fromEntries(
          bounded.map((parameter) => [parameter.name, parameter[bound] ?? sampleOf(parameter)]),
        );
        const { task, issues } = fillTemplate(builtin, { agentMap, parameters });
        expect(issues).toEqual([]);
        expect(issuesWithThresholds(task)).toEqual([]);
      }
    },
  );

  it('answer one of the questions that a new test is chosen by', () => {
    const questions = ['performance', 'scale', 'security', 'resilience', 'access'];
    const without = allBuiltin.filter(({ tags }) => !tags.split(',').some((tag) => questions.includes(tag)));
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('have a label for every parameter', () => {
    const bare = allBuiltin.flatMap(({ parameters }) => parameters.filter(({ label }) => label === undefined));
    expect(bare).toEqual([]);
  });

  it('are there for every plugin', () => {
    const used = new Set(allBuiltin.flatMap(pluginsOf));
    expect(plugins.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });

  it('have thresholds, or a reason to have none', () => {
    const bare = allBuiltin.filter(({ task }) => ((task['thresholds'] ?? []) as unknown[]).length === 0);
    expect(bare.filter((template) => whyWithoutThresholds(template) === undefined)).toEqual([]);
    expect(allBuiltin.length - bare.length).toBeGreaterThan(40);
  });

  it('ask for plugins that exist, under their names', () => {
    for (const template of allBuiltin) {
      const [first = '', ...more] = new Set(pluginsOf(template));
      const needed = first === 'suite' ? more : [first];
      expect(template.slots.map(({ requires }) => requires)).toEqual(template.slots.map(() => needed));
    }
  });
});
