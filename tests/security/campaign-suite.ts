import { expect, it } from 'vitest';
import { addresses, attack, type Lab, tally } from './lab.ts';

export const step = (idx: number, more: object) => ({
  ...{ idx, tactic: 'command-and-control', direction: 'outbound', delayMs: 0, jitterPct: 0, repeat: 2, requires: [] },
  ...{ onBlocked: 'continue', expect: 'block', remediation: '', params: {} },
  ...more,
});
/** Each channel on its own ports, so that a rule can match one channel. */
const campaign = {
  name: 'Several channels',
  steps: [
    step(0, {
      name: 'names',
      technique: 'T1071.004',
      action: 'dns-query',
      protocol: 'dns',
      port: 5353,
      params: { count: 2 },
    }),
    step(1, {
      ...{ name: 'web', technique: 'T1071.001', action: 'http-beacon', protocol: 'http', port: 8081 },
      params: { method: 'POST', bodyBytes: 32 },
    }),
    step(2, { name: 'secure web', technique: 'T1573.002', action: 'https-beacon', protocol: 'https', port: 8443 }),
    step(3, { name: 'plain', technique: 'T1095', action: 'tcp-beacon', protocol: 'tcp', port: 4444 }),
    step(4, {
      name: 'tool',
      technique: 'T1105',
      action: 'file-download',
      protocol: 'http',
      port: 8081,
      repeat: 1,
      requires: [1],
    }),
    step(5, {
      name: 'mail',
      tactic: 'exfiltration',
      technique: 'T1048.003',
      action: 'smtp-exfil',
      protocol: 'smtp',
      port: 2525,
      repeat: 1,
    }),
    step(6, {
      name: 'file transfer',
      tactic: 'exfiltration',
      technique: 'T1048.003',
      action: 'ftp-exfil',
      protocol: 'ftp',
      port: 2121,
      repeat: 1,
    }),
    step(7, {
      name: 'look around',
      tactic: 'discovery',
      technique: 'T1046',
      action: 'port-scan',
      protocol: 'tcp',
      port: 0,
      repeat: 1,
      params: { ports: '9001-9004', rate: 100 },
    }),
    step(8, {
      ...{ name: 'echoes', technique: 'T1095', action: 'icmp-beacon', protocol: 'icmp', port: 0 },
      params: { bytes: 200 },
    }),
  ],
};
const outcomesOf = (attempts: Awaited<ReturnType<typeof attack>>['attempts']) => {
  const found: Record<string, string> = {};
  for (const { variant, outcome, mechanism } of attempts) {
    const text = `${outcome}${mechanism === null ? '' : ` ${mechanism}`}`;
    found[variant] = found[variant] === undefined || found[variant] === text ? text : `${found[variant]}, ${text}`;
  }
  return found;
};
const play = (lab: Lab, more: object = {}) =>
  attack(lab, {
    plugin: 19,
    to: addresses.server,
    port: 0,
    values: {
      // Each service has its own port.
      targets: [{ agent: { id: lab.server.id }, ip: addresses.server }],
      compromisedHostParams: {
        campaign,
        ...more,
        detection: { control: { timeoutMs: 700, retries: 0, everyAttempts: 50 } },
      },
    },
  });

/** Rules of the device, until its table `guard` is deleted. */
export const guard = (lab: Lab, ...rules: string[]) => {
  lab.inDevice('nft', 'add', 'table', 'inet', 'guard');
  lab.inDevice('nft', 'add', 'chain', 'inet', 'guard', 'forward', '{ type filter hook forward priority 0; }');
  for (const rule of rules) lab.inDevice('nft', 'add', 'rule', 'inet', 'guard', 'forward', rule);
};

/** Tests of a campaign between two agents through a router; `labOf` is called when a test runs. */
export const campaignThroughRouter = (labOf: () => Lab) => {
  it('exfiltrates everything without rules, also without a mark', async () => {
    const { attempts, security } = await play(labOf(), { marker: false });
    expect(tally(attempts)).toEqual({ passed: attempts.length });
    expect(attempts.length).toBe(4 + 2 + 2 + 2 + 1 + 1 + 1 + 4 + 2);
    expect(security.campaign?.layer.techniques.map(({ score }) => score)).toEqual(Array(7).fill(0));
  });

  it('reports which channels nftables rules block, how, and what depends on them', async () => {
    const lab = labOf();
    guard(
      lab,
      // POST requests are reset; plain TCP packets as long as a message are dropped.
      'tcp dport 8081 @ih,0,32 0x504f5354 reject with tcp reset',
      'tcp dport 4444 ip length > 110 drop',
      // Long ICMP echoes are dropped; the short ones that check the path pass.
      'icmp type echo-request ip length > 120 drop',
    );
    const { attempts, security } = await play(lab);
    lab.inDevice('nft', 'delete', 'table', 'inet', 'guard');
    expect(outcomesOf(attempts)).toEqual({
      '1 names': 'passed',
      '2 web': 'blocked tcp-reset',
      '3 secure web': 'passed',
      '4 plain': 'blocked silent-drop',
      '5 tool': 'skipped',
      '6 mail': 'passed',
      '7 file transfer': 'passed',
      '8 look around': 'passed',
      '9 echoes': 'blocked silent-drop',
    });
    const layer = security.campaign?.layer;
    expect(layer).toMatchObject({ domain: 'enterprise-attack', versions: { layer: '4.5' } });
    const scores = layer?.techniques.map(({ techniqueID, score }) => [techniqueID, score]);
    expect(Object.fromEntries(scores ?? [])).toEqual({
      ...{ T1046: 0, 'T1048.003': 0, 'T1071.004': 0, 'T1573.002': 0 },
      ...{ 'T1071.001': 100, T1095: 100 },
    });
    expect(security.campaign?.timeline.map(({ at }) => at)).toEqual(
      security.campaign?.timeline.map(({ at }) => at).toSorted(),
    );
  });
};
