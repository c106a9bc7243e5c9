import { beforeAll, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { runScenario } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { runProgram } from './access-results.ts';
import { makeSwitch } from './multicast-switch.ts';
import { addCables } from './open-vswitch.ts';

const cable = useCable('test', stopNeighbourDiscovery);
beforeAll(ensureWeb);

it('the page of a run shows delays of channels, states of ports, commands and events', async () => {
  const { right } = cable;
  addCables(cable, 1);
  makeSwitch(right);
  for (const group of ['239.1.0.1', '239.1.0.2', '239.1.0.3'])
    runProgram(right, 'ping', ['-q', '-i', '0.02', '-t', '4', '-I', 'br0', group]);
  const scenario = 'tests/access/run-page-scenario.ts';
  const { delays, headers, events, afterwards, problems } = await runScenario(cable, scenario, right.address);
  expect(delays.map(([name]: string[]) => name)).toEqual([
    'gateway',
    'join of a multicast group',
    'leave of a multicast group',
    'whole setup',
  ]);
  for (const [, count, ...times] of [...delays, afterwards]) {
    expect(Number(count)).toBeGreaterThan(0);
    expect(times).toHaveLength(6);
    for (const time of times) expect(time).toMatch(/^[\d.,]+ (µs|ms|s)$/);
  }
  expect(headers).toEqual(expect.arrayContaining(['Interface', 'This end', 'Partner', 'State of the partner']));
  const text = events.join('\n');
  expect(text).toContain('the session is up');
  expect(text).toContain('l1: LACP distributing');
  expect(text).toContain('r1: LACP distributing');
  expect(text).toContain('l1: LACP down');
  expect(problems).toEqual([]);
});
