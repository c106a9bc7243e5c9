import { expect, it } from 'vitest';
import { runScenario } from '../namespaces.ts';
import { useCable } from '../use-cable.ts';

const scenario = 'tests/engines/packets/scenario.ts';

const cable = useCable('file');

it('tasks of streams, echoes and trials run between two agents, and both sides agree', async () => {
  const { hasWarned, stream, icmp, rfc2544, routes } = await runScenario(cable, scenario);
  expect(hasWarned).toBe(true);
  expect(stream.sent).toBeGreaterThan(5000);
  expect(stream).toMatchObject({ status: 7, received: stream.sent, lost: 0 });
  expect(icmp.sent).toBeGreaterThan(250);
  expect(icmp).toMatchObject({ status: 7, received: icmp.sent });
  expect(icmp.answered).toBeGreaterThanOrEqual(icmp.sent);
  expect(rfc2544).toMatchObject({ status: 7, validity: { valid: true } });
  expect(rfc2544.rows.map((row: { frameSize: number }) => row.frameSize)).toEqual([64, 1518]);
  for (const { throughput, latency, frameLoss, trials } of rfc2544.rows) {
    // On a busy machine a trial may end before its last frames are sent.
    expect(throughput).toMatchObject({ limit: throughput.fps >= 980 ? 'ordered' : 'generator', trials: 1 });
    expect(throughput.fps).toBeGreaterThan(700);
    expect(latency.p99Us).toBeGreaterThan(0);
    expect(frameLoss.map(({ lossPct }: { lossPct: number }) => lossPct)).toEqual([0, 0]);
    expect(trials).toHaveLength(4);
  }
  expect(rfc2544.html).toContain('<h2>RFC 2544</h2>');
  expect(rfc2544.csv.split('\r\n')).toHaveLength(1 + 2 * 4 + 1);
  expect(rfc2544.junit).toContain('RFC 2544: frames of 1518 bytes arrive');
  expect(rfc2544.progress.join()).toMatch(/latency of 1518 bytes, trial 6: \d+ frames\/s/);
  // A killed agent cannot release its addresses; its successor does.
  expect(routes.before).toContain('10.99.0.77');
  expect(routes).toMatchObject({ left: routes.before, after: '' });
});
