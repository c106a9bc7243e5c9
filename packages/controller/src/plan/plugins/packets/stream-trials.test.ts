import { describe, expect, it } from 'vitest';
import { configProblems } from '../../testing/engine-check.ts';
import { agentOf, sidesOf } from '../../testing/plan-fixture.ts';

const standard = [64, 128, 256, 512, 1024, 1280, 1518, 9000];

describe('trials by RFC 2544', () => {
  it('are made for all standard sizes unless others are named', () => {
    const { client, server, issues, plan } = sidesOf(7, { payload: { rfc2544: {} } });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({ load: {}, rfc2544: { frameSizes: standard, trialSec: 60, resolutionPct: 1 } });
    expect(server).toMatchObject({ countsTrials: true });
    expect(plan.agents.flatMap(({ jobs }) => jobs.map(({ canChangeLoad }) => canChangeLoad))).toEqual([false, false]);
    for (const config of [client, server]) expect(configProblems({ engine: 'stream', config })).toEqual([]);
  });

  it('replace sizes that do not hold the headers, and refuse such as were named', () => {
    const six = { agents: [1, 2].map((id) => agentOf(id, { addresses: [`fd00::${id}`] })) };
    const ipLayer = { version: 6 };
    expect(sidesOf(7, { payload: { rfc2544: {} }, ipLayer }, six).client).toMatchObject({
      rfc2544: { frameSizes: [84, ...standard.slice(1)] },
    });
    const named = { payload: { rfc2544: { frameSizes: [64, 128] } }, ipLayer };
    expect(sidesOf(7, named, six).issues).toEqual(['payload/rfc2544/frameSizes/0 FRAME_TOO_SMALL']);
  });

  it('say beforehand how long they take at most', () => {
    const rfc2544 = { frameSizes: [64, 1518], tests: ['throughput', 'latency'], trialSec: 10, settleSec: 1 };
    const { plan } = sidesOf(7, { payload: { rfc2544 } });
    // For each size: a search of 10 + log2(100) trials, four confirmations of 60 s and one more trial, each with its
    // pauses; and ten seconds to begin.
    expect(plan.estimate.durationSec).toBe(2 * (17 * 12 + 4 * 62 + 12) + 10);
    const [given] = sidesOf(7, { payload: { rfc2544 }, duration: { seconds: 5 } }).plan.issues;
    expect(given).toMatchObject({ severity: 'warning', message: expect.stringContaining('938 seconds at most') });
  });

  it('go from one source to one target with an agent, in headers that can be turned round', () => {
    const issueCodes = (values: object) => sidesOf(7, { payload: { rfc2544: {} }, ...values }).issues;
    const two = [1, 2].map((id) => ({ agent: { id } }));
    expect(issueCodes({ sources: two })).toContain('sources ONE_PAIR');
    expect(issueCodes({ targets: [{ agent: { id: 2 }, ports: '1000-1001' }] })).toEqual(['targets/0 ONE_PAIR']);
    expect(issueCodes({ targets: [{ ip: '10.0.0.9' }] })).toContain('targets/0/agent NO_SERVER_AGENT');
    expect(issueCodes({ payload: { rfc2544: {}, mpls: [{ label: 3 }], protocol: 'icmp' } })).toEqual([
      'payload/mpls NOT_SUPPORTED',
      'payload/protocol NOT_SUPPORTED',
    ]);
    expect(issueCodes({ payload: { rfc2544: { tests: ['latency'] } } })).toEqual([
      'payload/rfc2544/tests RATE_MISSING',
    ]);
    expect(issueCodes({ payload: { rfc2544: { tests: ['latency'] } }, packetsPerSecond: 5 })).toEqual([]);
    expect(issueCodes({ frameSize: 100 })).toEqual(['warning frameSize MEMBER_IGNORED']);
  });
});
