import { api, findPlugin } from '@rushhour/contract';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { issuesOfUnknown } from '../../check/check-definition.ts';
import { issuesOfTemplate } from '../check-template.ts';
import { fillTemplate } from '../fill.ts';
import { sampleOf } from '../parameter-value.ts';
import { allBuiltin } from './all-builtin.ts';

describe('the built-in templates', () => {
  it('are forty-nine, each with a name of its own', () => {
    expect(allBuiltin).toHaveLength(49);
    expect(new Set(allBuiltin.map(({ name }) => name)).size).toBe(49);
  });

  it.each(allBuiltin.map((builtin) => [builtin.name, builtin] as const))(
    '"%s" could be sent by a user',
    (_, builtin) => {
      expect(Value.Check(api.taskTemplates.routes.create.body, builtin)).toBe(true);
      expect(issuesOfTemplate(builtin, issuesOfUnknown)).toEqual([]);
    },
  );

  it.each(allBuiltin.map((builtin) => [builtin.name, builtin] as const))('"%s" becomes a task', (_, builtin) => {
    const open = builtin.parameters.filter((parameter) => parameter.default === undefined);
    const { task, issues } = fillTemplate(builtin, {
      agentMap: Object.fromEntries(builtin.slots.map(({ name }, index) => [name, index + 1])),
      parameters: Object.fromEntries(open.map((parameter) => [parameter.name, sampleOf(parameter)])),
    });
    expect(issues).toEqual([]);
    expect(issuesOfUnknown(task)).toEqual([]);
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
        expect(issuesOfUnknown(task)).toEqual([]);
      }
    },
  );

  it('ask for plugins that exist, under their names', () => {
    for (const { task, slots } of allBuiltin) {
      const [entry] = task['configuration'] as { plugin: { id: number } }[];
      expect(slots.map(({ requires }) => requires)).toEqual(slots.map(() => [findPlugin(entry?.plugin.id ?? 0)?.name]));
    }
  });
});
