import type { TaskTemplate } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { fillTemplate, requestIssues } from './fill.ts';

const template: Pick<TaskTemplate, 'task' | 'slots' | 'parameters'> = {
  task: { a: { agent: { id: { $slot: 'client' } } }, b: { agent: { id: { $slot: 'server' } } }, c: { $param: 'rps' } },
  slots: [
    { name: 'client', role: 'client' },
    { name: 'server', role: 'server' },
  ],
  parameters: [
    { name: 'rps', type: 'integer', min: 1, max: 10 },
    { name: 'ratio', type: 'number', default: 0.5 },
    { name: 'word', type: 'string', default: '' },
    { name: 'flag', type: 'boolean', default: false },
  ],
};
const agentMap = { client: 1, server: 2 };
const codesOf = (filling: { agentMap?: object; parameters?: object }) =>
  fillTemplate(template, { agentMap, parameters: { rps: 5 }, ...filling } as never).issues.map(({ path, code }) => [
    path,
    code,
  ]);

describe('filling a template in', () => {
  it('puts agents and values where their markers were', () => {
    const { task, issues } = fillTemplate(template, { agentMap, parameters: { rps: 5 } });
    expect(issues).toEqual([]);
    expect(task).toEqual({ a: { agent: { id: 1 } }, b: { agent: { id: 2 } }, c: 5 });
  });

  it('names every slot and parameter that is missing', () => {
    expect(codesOf({ agentMap: {}, parameters: {} })).toEqual([
      ['/agentMap/client', 'SLOT_UNFILLED'],
      ['/agentMap/server', 'SLOT_UNFILLED'],
      ['/parameters/rps', 'PARAMETER_UNFILLED'],
    ]);
  });

  it('names everything that the template does not know', () => {
    expect(codesOf({ agentMap: { ...agentMap, third: 3 }, parameters: { rps: 5, constructor: 1 } })).toEqual([
      ['/agentMap/third', 'UNKNOWN_SLOT'],
      ['/parameters/constructor', 'UNKNOWN_PARAMETER'],
    ]);
  });

  it.each([
    ['rps', 0, 'MINIMUM'],
    ['rps', 11, 'MAXIMUM'],
    ['rps', 1.5, 'TYPE'],
    ['rps', '5', 'TYPE'],
    ['ratio', true, 'TYPE'],
    ['ratio', Number.NaN, 'TYPE'],
    ['word', 1, 'TYPE'],
    ['flag', 'true', 'TYPE'],
  ])('refuses %s = %s with %s', (name, value, code) => {
    expect(codesOf({ parameters: { rps: 5, [name]: value } })).toEqual([[`/parameters/${name}`, code]]);
  });

  it('tells problems of the task where they can be mended', () => {
    const issue = (path: string) => ({ path, code: 'X', message: 'is wrong' });
    expect(requestIssues(template, [issue('/a/agent/id'), issue('/c'), issue('/d/e')])).toEqual([
      { path: '/agentMap/client', code: 'X', message: 'is wrong' },
      { path: '/parameters/rps', code: 'X', message: 'is wrong' },
      { path: '/templateID', code: 'X', message: "the template's /d/e is wrong" },
    ]);
  });
});
