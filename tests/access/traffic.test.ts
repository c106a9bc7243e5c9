import { expect, it } from 'vitest';
import { runScenario } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';

const scenario = 'tests/access/traffic-scenario.ts';
const cable = useCable('file');

it.each([
  ['PPPoE', 'pppoe', 20],
  ['DHCP', 'dhcp', 20],
  ['L2TP, in no VLAN', 'l2tp', 1],
  ['PPPoE and a gateway of the control plane', 'access', 20],
  ['PPPoE with IPv6 and DHCPv6', 'pppoe6', 20],
  ['IPv6 with addresses of DHCPv6', 'dhcpv6', 20],
  ['IPv6 with addresses of an advertised prefix', 'slaac', 20],
])('HTTP goes through sessions of %s to a host behind our gateway', async (_name, kind, vlans) => {
  const { status, addresses, served, packets, answers, errors } = await runScenario(cable, scenario, kind);
  expect(status).toBe(8);
  expect(new Set(addresses).size).toBe(20);
  expect(new Set(served.map(([address]: string[]) => address))).toEqual(new Set(addresses));
  expect(new Set(served.map(([, vlan]: string[]) => vlan)).size).toBe(vlans);
  expect(answers).toBeGreaterThan(100);
  expect(packets.filter((count: number) => count > 0)).toHaveLength(20);
  // Sessions that were stopped carry nothing more.
  expect(errors).toEqual(['http.errors.unreachable']);
});
