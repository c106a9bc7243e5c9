import { expect, it } from 'vitest';
import { runScenario } from '../namespaces.ts';
import { useCable } from '../use-cable.ts';

const scenario = 'tests/engines/pcap-replay/scenario.ts';

const cable = useCable('file');

it('uploaded captures are replayed between two agents, and both sides agree on every packet', async () => {
  const { original, fast, sessions, empty } = await runScenario(cable, scenario);
  const played = (loops: number) => ({
    client: { sent: 12 * loops, received: 8 * loops, lost: 0, failed: 0, loops },
    server: { sent: 8 * loops, received: 12 * loops, lost: 0, failed: 0, loops: 0 },
  });
  expect(original).toMatchObject({ status: 7, ...played(2) });
  expect(fast).toMatchObject({ status: 7, ...played(50) });
  // Two conversations and one exchange of datagrams, five times.
  expect(sessions).toMatchObject({ status: 7, ok: 15, ko: 0 });
  expect(empty).toMatchObject({ status: 9, error: expect.stringContaining('No packet is left of the capture.') });
});
