import { expect, it } from 'vitest';
import { runScenario } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';

const scenario = 'tests/control/task-scenario.ts';
const cable = useCable('test');

it('the control plane of a task runs routers against FRR and obeys commands', async () => {
  await startFrr(
    cable.right,
    ['bgpd'],
    `router bgp 65001
      bgp router-id 10.99.0.2
      no bgp ebgp-requires-policy
      neighbor 10.99.0.10 remote-as 65000
      neighbor 10.99.0.11 remote-as 65000`,
  );
  const answer = await runScenario(cable, scenario);
  expect(answer).toMatchObject({ status: 7, commands: [{ agents: 1, reason: '' }], sent: 1500, flaps: 1 });
  expect(answer.neighbours).toMatchObject([
    { state: 'established', cells: { router: '10.99.0.10', routesSent: 500, routesReceived: 1000, flaps: 1 } },
    { state: 'established', cells: { router: '10.99.0.11', routesSent: 500, routesReceived: 1000, flaps: 0 } },
  ]);
});
