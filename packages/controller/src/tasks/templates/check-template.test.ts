import type { TaskTemplate } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { issuesOfUnknown } from '../check/check-definition.ts';
import { httpRate } from './builtin/traffic/http-rate.ts';
import { issuesOfTemplate } from './check-template.ts';

type Template = Pick<TaskTemplate, 'task' | 'slots' | 'parameters'>;

const changed = (change: (template: Template & { values: Record<string, unknown> }) => void) => {
  const { task, slots, parameters } = structuredClone(httpRate);
  const values = (task['configuration'] as { values: Record<string, unknown> }[])[0]?.values as Record<string, unknown>;
  change({ task, slots, parameters, values });
  return issuesOfTemplate({ task, slots, parameters }, issuesOfUnknown).map(({ path, code }) => [path, code]);
};
const values = '/task/configuration/0/values';

describe('a template', () => {
  it('is sound when it declares what it uses and becomes a task', () => {
    expect(changed(() => {})).toEqual([]);
  });

  it('declares every slot and parameter that it uses', () => {
    const codes = changed(({ slots, parameters }) => {
      slots.pop();
      parameters.splice(0, 1);
    });
    expect(codes).toEqual([
      [`${values}/targets/0/agent/id`, 'SLOT_UNDECLARED'],
      [`${values}/requestsPerSecond`, 'PARAMETER_UNDECLARED'],
    ]);
  });

  it('uses every slot and parameter that it declares, and each name once', () => {
    const codes = changed(({ slots, parameters }) => {
      slots.push({ name: 'third', role: 'any' });
      parameters.push({ name: 'idle', type: 'string' }, { name: 'rps', type: 'integer' });
    });
    expect(codes).toEqual([
      ['/slots/2/name', 'SLOT_UNUSED'],
      ['/parameters/6/name', 'PARAMETER_UNUSED'],
      ['/parameters/7/name', 'DUPLICATE_NAME'],
    ]);
  });

  it('has defaults that fit', () => {
    const codes = changed(({ parameters }) => {
      Object.assign(parameters[0] ?? {}, { default: 0 });
      Object.assign(parameters[3] ?? {}, { min: 9, max: 1 });
      Object.assign(parameters[4] ?? {}, { max: 3 });
      Object.assign(parameters[5] ?? {}, { default: 'much' });
    });
    expect(codes.slice(0, 4)).toEqual([
      ['/parameters/0/default', 'MINIMUM'],
      ['/parameters/3/min', 'BOUNDS_CROSSED'],
      ['/parameters/4/max', 'BOUND_UNEXPECTED'],
      ['/parameters/5/default', 'TYPE'],
    ]);
  });

  it('has slots where agents stand and nowhere else', () => {
    const codes = changed(({ values, slots, parameters }) => {
      values['cpuCores'] = { $slot: 'core' };
      slots.push({ name: 'core', role: 'any' });
      values['targets'] = [{ agent: { id: { $param: 'peer' } } }];
      slots.splice(1, 1);
      parameters.push({ name: 'peer', type: 'integer' });
    });
    expect(codes).toEqual([
      [`${values}/targets/0/agent/id`, 'PARAMETER_MISPLACED'],
      [`${values}/cpuCores`, 'SLOT_MISPLACED'],
    ]);
  });

  it('becomes a task that its plugins accept', () => {
    const codes = changed(({ values, task }) => {
      values['packetsPerSecond'] = 5;
      values['httpParams'] = { path: { $param: 'path' }, connections: { $param: 'connections' }, method: 'get' };
      task['extra'] = 1;
    });
    expect(codes).toContainEqual(['/parameters/5/name', 'PARAMETER_UNUSED']);
    expect(codes).toContainEqual(['/task/extra', 'UNKNOWN_MEMBER']);
    const inside = changed(({ values }) => {
      values['packetsPerSecond'] = 5;
    });
    expect(inside).toEqual([[`${values}/packetsPerSecond`, 'UNKNOWN_MEMBER']]);
  });

  it('is not judged where only its user can say what stands there', () => {
    const codes = changed(({ values, parameters }) => {
      values['clientPortRange'] = { $param: 'range' };
      parameters.push({ name: 'range', type: 'string' });
    });
    expect(codes).toEqual([]);
  });

  it('holds no secret', () => {
    const codes = changed(({ values }) => {
      values['ipsecPsk'] = 'in the open';
    });
    expect(codes).toContainEqual([`${values}/ipsecPsk`, 'SECRET_IN_TEMPLATE']);
  });
});
