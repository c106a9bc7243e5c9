import { describe, expect, it } from 'vitest';
import { configProblems } from '../../testing/engine-check.ts';
import { sidesOf } from '../../testing/plan-fixture.ts';

const planned = (rocev2Params: object, more: object = {}) => sidesOf(14, { rocev2Params, ...more });

describe('queue pairs', () => {
  it('have the operation, sizes and rate of the entry on both sides', () => {
    const { client, server, plan, issues } = planned({ verb: 'read', messageSize: 1000, qps: 8, rateGbps: 2 });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({ verb: 'read', messageBytes: 1000, queuePairs: 8, rateBps: 2e9, retryMs: 67 });
    expect(server).toMatchObject({ listen: [{ host: '10.0.0.2', port: 4791 }], messageBytes: 1000, rateBps: 2e9 });
    expect(client).not.toHaveProperty('congestion');
    expect(plan.estimate.bps).toBe(2e9);
    for (const config of [client, server]) expect(configProblems({ engine: 'rocev2', config })).toEqual([]);
  });

  it('are markable and notify where there is rate control', () => {
    const { client, server } = planned({ dcqcn: { additiveIncreaseMbps: 5 }, dscp: 26 });
    for (const config of [client, server]) {
      expect(config).toMatchObject({
        header: { dscp: 26, ecn: 2 },
        congestion: { dscp: 48, delayUs: 4 },
        dcqcn: { additiveBps: 5e6, hyperBps: 400e6, timeResetUs: 55 },
      });
      expect(configProblems({ engine: 'rocev2', config })).toEqual([]);
    }
  });

  it('refuse what only an adapter could do, with the pointer', () => {
    expect(planned({ device: 'rxe0' }).issues).toEqual(['rocev2Params/device NOT_SUPPORTED']);
    expect(planned({ gidIndex: 1 }).issues).toEqual(['rocev2Params/gidIndex NOT_SUPPORTED']);
    expect(planned({ rateGbps: 1, linePct: 5 }).issues).toEqual(['rocev2Params/linePct NOT_SUPPORTED']);
    expect(planned({}, { targets: [{ ip: '10.0.0.9' }] }).issues).toContain('targets/0/agent NO_SERVER_AGENT');
    expect(planned({}, { targets: [{ agent: { id: 2 }, ports: '99' }] }).issues).toContain(
      'targets/0/ports NOT_SUPPORTED',
    );
  });
});
