import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runScenario } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const scenario = fileURLToPath(new URL('task-scenario.ts', import.meta.url));
const cable = useCable('file');

it('a task with MAC policies, a VLAN, a header field or a tunnel runs on emulated hosts of two agents', async () => {
  const sniffer = await startSniffer(cable.right);
  const { tagged, tunnelled } = await runScenario(cable, scenario);
  await sniffer.stop();
  // The tunnel runs by AF_XDP, which a capture on the same machine does not see: what served is proof enough here.
  for (const run of [tagged, tunnelled]) {
    expect(run).toMatchObject({ status: 7, served: run.requests, requests: run.ok });
    expect(run.requests).toBeGreaterThan(300);
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
