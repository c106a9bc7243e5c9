import { describe, expect, it } from 'vitest';
import { configProblems } from '../../testing/engine-check.ts';
import { sidesOf } from '../../testing/plan-fixture.ts';

const issueCodes = (values: object) => sidesOf(20, { packetsPerSecond: 100, ...values }).issues;
const around = (convergenceEncapsulation: object) => issueCodes({ convergenceEncapsulation });

describe('convergence', () => {
  it('sends flows at the rate and watches them where they arrive', () => {
    const { client, server, plan, issues } = sidesOf(20, {
      packetsPerSecond: 5000,
      convergenceFlows: 50,
      frameSize: 200,
    });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({ streams: 50, load: { rate: 5000 }, sizes: { mix: [{ frameSize: 200 }] } });
    expect(server).toMatchObject({ listen: [{ host: '10.0.0.2', port: 15_010 }], isEncapsulated: false });
    expect(plan.estimate.pps).toBe(5000);
    for (const config of [client, server]) expect(configProblems({ engine: 'convergence', config })).toEqual([]);
  });

  it('has each encapsulation around its packets', () => {
    const headersOf = (convergenceEncapsulation: object) => {
      const { client, issues } = sidesOf(20, { ppsUnlimited: true, frameSize: 300, convergenceEncapsulation });
      expect(issues).toEqual([]);
      expect(configProblems({ engine: 'convergence', config: client })).toEqual([]);
      return client['headers'];
    };
    const ends = { localIp: '10.0.0.1', remoteIp: '10.0.0.2' };
    const tunnel = { source: '10.0.0.1', destination: '10.0.0.2' };
    expect(headersOf({ type: 'vlan', vlanId: 7 })).toMatchObject({ vlan: [{ id: 7, type: 0x8100 }] });
    expect(headersOf({ type: 'mpls', labels: [16, 17] })).toMatchObject({ mpls: [{ label: 16 }, { label: 17 }] });
    expect(headersOf({ type: 'vxlan', vni: 9, ...ends })).toMatchObject({
      tunnel: { type: 'vxlan', network: 9, ...tunnel },
    });
    expect(headersOf({ type: 'gre', key: 3, ...ends })).toMatchObject({ tunnel: { type: 'gre', key: 3, ...tunnel } });
    expect(headersOf({ type: 'gre', ...ends })).not.toHaveProperty('tunnel.key');
  });

  it('refuses what it cannot do, with the pointer', () => {
    expect(sidesOf(20, {}).issues).toEqual(['packetsPerSecond RATE_MISSING']);
    expect(around({ type: 'vlan' })).toEqual(['convergenceEncapsulation/vlanId REQUIRED']);
    expect(around({ vlanId: 5 })).toEqual(['convergenceEncapsulation/vlanId NOT_SUPPORTED']);
    expect(around({ type: 'mpls', labels: [16], key: 4 })).toEqual(['convergenceEncapsulation/key NOT_SUPPORTED']);
    expect(around({ type: 'gre', localIp: '10.0.0.1', remoteIp: '8.8.8.8' })).toEqual([
      'convergenceEncapsulation/remoteIp TARGET_NOT_ALLOWED',
    ]);
    expect(issueCodes({ targets: [{ ip: '10.0.0.9' }] })).toContain('targets/0/agent NO_SERVER_AGENT');
    expect(issueCodes({ frameSize: 70, convergenceEncapsulation: { type: 'mpls', labels: [1, 2, 3, 4] } })).toEqual([
      'frameSize FRAME_TOO_SMALL',
    ]);
  });
});
