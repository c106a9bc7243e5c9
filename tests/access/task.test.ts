import { expect, it } from 'vitest';
import { runScenario } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';

const scenario = 'tests/access/task-scenario.ts';
const cable = useCable('file');

it('a task of planes alone sets up PPPoE sessions between two agents and obeys commands', async () => {
  const { addresses, stopped, commands, setups, tables, status } = await runScenario(cable, scenario);
  expect(new Set(addresses).size).toBe(40);
  expect(commands).toEqual([{ agents: 1, reason: '' }]);
  expect(stopped.sort((a: number, b: number) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(setups).toBeGreaterThanOrEqual(40);
  expect(tables).toMatchObject([{ name: 'sessions' }]);
  expect(status).toBe(8);
});
