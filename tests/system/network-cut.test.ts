import { expect, it } from 'vitest';
import { runScenario } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';

const scenario = 'tests/system/network-cut-scenario.ts';

const cable = useCable('file');

it('a short network outage degrades a run and loses no sample', async () => {
  const { end, holes, ok } = await runScenario(cable, scenario, cable.left.device, 'short');
  expect(end).toMatchObject({ status: 7, stopReason: 'duration' });
  expect(holes).toBe(0);
  expect(ok).toBeGreaterThan(1000);
});

it('a long outage fails the run, which loses its only server, and the agent reconnects', async () => {
  const { end } = await runScenario(cable, scenario, cable.left.device, 'long');
  expect(end).toMatchObject({ status: 9, stopReason: 'agentLost' });
});
