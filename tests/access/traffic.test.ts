import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runScenario } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';

const scenario = fileURLToPath(new URL('traffic-scenario.ts', import.meta.url));
const cable = useCable('file');

it.each(['pppoe', 'dhcp'])('HTTP goes through sessions of %s to a host behind our gateway', async (kind) => {
  const { status, addresses, served, packets, answers, errors } = await runScenario(cable, scenario, kind);
  expect(status).toBe(8);
  expect(new Set(addresses).size).toBe(20);
  expect(new Set(served.map(([address]: string[]) => address))).toEqual(new Set(addresses));
  expect(new Set(served.map(([, vlan]: string[]) => vlan)).size).toBe(20);
  expect(answers).toBeGreaterThan(100);
  expect(packets.filter((count: number) => count > 0)).toHaveLength(20);
  // Sessions that were stopped carry nothing more.
  expect(errors).toEqual(['http.errors.unreachable']);
});
