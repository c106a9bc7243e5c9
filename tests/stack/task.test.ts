import { expect, it } from 'vitest';
import { runScenario } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const scenario = 'tests/stack/task-scenario.ts';
const cable = useCable('file');

it('a task with MAC policies, a VLAN, a header field or a tunnel runs on emulated hosts of two agents', async () => {
  const sniffer = await startSniffer(cable.right);
  const { tagged, tunnelled, ipsec, tunnels, handshakes } = await runScenario(cable, scenario);
  await sniffer.stop();
  expect(tunnels).toMatchObject({ status: 7, opened: [20, 20] });
  expect(Math.min(...tunnels.rxBytes)).toBeGreaterThan(0);
  expect(tunnels.rows).toHaveLength(20);
  expect(tunnels.rows[0]).toMatchObject({ state: 'up', cells: { espProposal: 'aes256gcm16', role: 'initiator' } });
  expect(handshakes).toMatchObject({ status: 7, failed: 0 });
  expect(handshakes.completed[0]).toBeGreaterThan(50);
  // The last response of a handshake may arrive after the end of the client.
  expect(handshakes.completed[1]).toBeGreaterThanOrEqual(handshakes.completed[0]);
  // Tunnels run by AF_XDP, which a capture on the same machine does not see: what served is proof enough here.
  for (const run of [tagged, tunnelled, ipsec]) {
    expect(run).toMatchObject({ status: 7, served: run.requests, requests: run.ok });
    // Requests through IPsec wait until its tunnels are up.
    expect(run.requests).toBeGreaterThan(run === ipsec ? 100 : 300);
  }
  const requests = await sniffer.fields('vlan.id == 33 && tcp.dstport == 8080', [
    'eth.src',
    'ip.src',
    'ip.dsfield.dscp',
  ]);
  const hosts = new Set(requests.map((row) => row.join(' ')));
  expect(hosts.size).toBe(50);
  expect(hosts).toContain('02:aa:00:00:00:07 10.77.0.8 10');
});
