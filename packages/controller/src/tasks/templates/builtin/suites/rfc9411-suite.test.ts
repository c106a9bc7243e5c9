import { api, rfc9411Tests } from '@rushhour/contract';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { issuesWithThresholds } from '../../../check/task-with-thresholds.ts';
import { issuesOfTemplate } from '../../check-template.ts';
import { fillTemplate } from '../../fill.ts';
import { rfc9411Suite } from './rfc9411-suite.ts';

const template = rfc9411Suite([{ applicationId: 1, weight: 1, users: { $param: 'users' } }]);
const agentMap = { client: 1, server: 2 };

interface Entry {
  readonly values: {
    readonly targets: readonly { readonly ports?: string }[];
    readonly duration: { readonly goal: { readonly rfc9411: string; readonly order: number } };
  };
}

describe('the template of all tests of RFC 9411', () => {
  it('could be sent by a user, and becomes a task at its defaults and bounds', () => {
    expect(Value.Check(api.taskTemplates.routes.create.body, template)).toBe(true);
    expect(issuesOfTemplate(template, issuesWithThresholds)).toEqual([]);
    for (const bound of ['default', 'min', 'max'] as const) {
      const parameters = Object.fromEntries(template.parameters.map((one) => [one.name, one[bound]]));
      const { task, issues } = fillTemplate(template, { agentMap, parameters: parameters as never });
      expect(issues).toEqual([]);
      expect(issuesWithThresholds(task)).toEqual([]);
    }
  });

  it('has every section once, in their order, each server on a port of its own', () => {
    const { task } = fillTemplate(template, { agentMap, parameters: {} });
    const entries = task['configuration'] as readonly Entry[];
    const goals = entries.map(({ values }) => values.duration.goal);
    expect(goals.map(({ rfc9411 }) => rfc9411)).toEqual(Object.keys(rfc9411Tests));
    expect(goals.map(({ order }) => order)).toEqual(goals.map((_, index) => index));
    const ports = entries.flatMap(({ values }) => values.targets.flatMap((target) => target.ports ?? []));
    expect(new Set(ports).size).toBe(entries.length - 1);
  });
});
