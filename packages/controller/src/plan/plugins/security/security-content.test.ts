import { campaignActions, campaignParams, tlsProfiles } from '@rushhour/contract';
import { Attempt } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { createSchemaCheck } from '../../../schema-check.ts';
import { foreignNames } from '../../../security/campaigns/action-params.ts';
import { campaigns } from '../../../security/campaigns/campaigns.ts';
import { benignTexts } from '../../../security/content/malware/benign-texts.ts';
import type { PlanSample, SampleCopy } from '../../core/plan-input.ts';
import { agentOf, sidesOf } from '../../testing/plan-fixture.ts';

const copyOf = (id: number, n: number): SampleCopy => ({
  plainSha256: `${id}${n}`.padStart(64, 'a'),
  sha256: `${id}${n}`.padStart(64, 'b'),
  size: 68,
  ...{ key: 'a2V5', nonce: 'bm9uY2U=', tag: 'dGFn' },
});
const sampleOf = (id: number, more: Partial<PlanSample> = {}): PlanSample => ({
  ...{ id, name: `sample ${id}.com`, mime: 'text/plain', type: 'test-file', family: '', isBuiltin: false, inert: true },
  ...{ kind: 'eicar', container: [], depth: 0, encoding: 'none' },
  copies: new Map([
    ['none', copyOf(id, 0)],
    ['gzip', copyOf(id, 1)],
  ]),
  ...more,
});
const byId = (...samples: PlanSample[]) => new Map(samples.map((sample) => [sample.id, sample]));

const planned = (
  plugin: number,
  values: object,
  samples: ReadonlyMap<number, PlanSample>,
  more: Parameters<typeof sidesOf>[2] = {},
) => {
  const sides = sidesOf(plugin, values as Record<string, unknown>, { samples, ...more });
  const attempts = (sides.plan.attempts[0]?.text ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Attempt);
  return { ...sides, attempts };
};
const check = createSchemaCheck(Attempt);
const unsound = (attempts: readonly Attempt[]) => attempts.flatMap((attempt) => check(structuredClone(attempt)));

describe('the plan of a transfer of samples', () => {
  const samples = byId(sampleOf(1), sampleOf(2, { container: ['zip'], depth: 2 }));
  const transfer = (payload: object, malwareFiles = [1, 2]) => planned(17, { malwareFiles, payload }, samples);

  it('carries every sample by every way, harmless files in between, and holds no sample itself', () => {
    const delivery = [
      { protocol: 'http', direction: 'download', compression: 'gzip' },
      ...['https', 'ftp', 'imap', 'raw'].map((protocol) => ({ protocol, direction: 'download' })),
      ...['http', 'https', 'ftp', 'imap', 'smtp', 'raw'].map((protocol) => ({ protocol, direction: 'upload' })),
      { protocol: 'pop3', direction: 'download' },
    ];
    const { attempts, issues, client, server, plan } = transfer({ delivery, benignEvery: 4, repeat: 2 });
    expect(issues).toEqual([]);
    expect(unsound(attempts)).toEqual([]);
    const attacks = attempts.filter(({ kind }) => kind === 'malware');
    expect(attacks).toHaveLength(delivery.length * 2 * 2);
    expect(attempts.filter(({ kind }) => kind === 'benign')).toHaveLength(attacks.length / 4);
    expect(attacks.map(({ variant }) => variant)).toEqual(
      expect.arrayContaining(['plain/http-download/gzip', 'zip×2/smtp-upload', 'plain/pop3-download']),
    );
    expect(attacks.every(({ exchange }) => JSON.stringify(exchange).includes('"file"'))).toBe(true);
    expect(client['files']).toEqual(server['files']);
    expect(client['files']).toHaveLength(4);
    const named = (client['files'] as { path: { $file: string } }[]).map(({ path }) => path.$file);
    const needed = plan.agents.flatMap(({ files }) => files.map(({ sha256 }) => sha256));
    expect(named.every((hash) => needed.includes(hash) && hash.startsWith('b'))).toBe(true);
  });

  it('tells of ways there are not and of samples that are not here', () => {
    const { issues } = transfer({ delivery: [{ protocol: 'smtp', direction: 'download' }] }, [1, 3]);
    expect(issues).toEqual(['malwareFiles/1 SAMPLE_WITHOUT_CONTENT', 'payload/delivery/0/direction NOT_SUPPORTED']);
  });

  it('has no free address: who names none of our agents is refused', () => {
    const { issues } = planned(17, { malwareFiles: [1], targets: [{ ip: '10.0.0.9' }] }, samples);
    expect(issues).toContain('targets/0/agent NO_SERVER_AGENT');
  });
});

describe('the plan of compromised hosts', () => {
  const builtin = byId(
    sampleOf(1, { isBuiltin: true }),
    sampleOf(2, { isBuiltin: true, container: ['zip'], depth: 1 }),
    sampleOf(3, { isBuiltin: true, container: ['tar.gz'], depth: 1 }),
  );
  const play = (compromisedHostParams: object) => planned(19, { compromisedHostParams }, builtin);

  it.each(campaigns.map(({ id, name }) => [id, name] as const))('plays campaign %i, %s', (id) => {
    const { attempts, issues } = play({ campaignIds: [id] });
    expect(issues).toEqual([]);
    expect(unsound(attempts)).toEqual([]);
    expect(attempts.length).toBeGreaterThan(2);
    expect(attempts.every(({ techniques }) => techniques.length === 1)).toBe(true);
    expect(foreignNames(attempts.map(({ exchange }) => exchange))).toEqual([]);
  });

  it('is the same each time, and other hosts say other things', () => {
    const texts = (more: object) => play({ campaignIds: [1, 4], ...more }).plan.attempts.map(({ sha256 }) => sha256);
    expect(texts({})).toEqual(texts({}));
    const { attempts } = play({ campaignIds: [4], hosts: 2 });
    const names = attempts.flatMap(({ exchange }) => (exchange.protocol === 'dns' ? [exchange.qname] : []));
    expect(names).toHaveLength(120);
    expect(new Set(names).size).toBe(120);
    const half = attempts.length / 2;
    expect(attempts.map(({ host }) => host)).toEqual([...new Array(half).fill(0), ...new Array(half).fill(1)]);
    const spread = play({ campaignIds: [4], hosts: 2, startSpreadMs: 10_000 }).attempts;
    expect((spread[half]?.delayMs ?? 0) - (attempts[half]?.delayMs ?? 0)).toBe(5000);
  });

  it('takes parameters, speed and a campaign of the task itself, and refuses what is wrong in it', () => {
    const step = {
      ...{ idx: 0, name: 'beacon', tactic: 'command-and-control', technique: 'T1071.001', action: 'http-beacon' },
      ...{
        direction: 'outbound',
        protocol: 'http',
        port: 8081,
        params: { intervalMs: '{{gap}}', sni: 'c2.example.test' },
      },
      ...{ delayMs: 100, jitterPct: 0, repeat: 3, requires: [], onBlocked: 'stop', expect: 'block', remediation: '' },
    };
    const parameters = [{ name: 'gap', type: 'integer', default: '500', min: '0', max: '9999', description: '' }];
    const own = (more: object) => ({ campaign: { name: 'Own', parameters, steps: [{ ...step, ...more }] } });
    const { attempts, issues } = play({ ...own({}), parameters: { 0: { gap: '300' } }, speedFactor: 2 });
    expect(issues).toEqual([]);
    expect(attempts.map(({ delayMs, onBlocked }) => [delayMs, onBlocked])).toEqual([
      [50, 'stop'],
      [200, 'stop'],
      [200, 'stop'],
    ]);
    const wrong = play(own({ params: { sni: 'evil.com', speed: 1 } })).issues;
    expect(wrong.slice(0, 2)).toEqual([
      'compromisedHostParams/campaign/steps/0/params/speed UNKNOWN_MEMBER',
      'compromisedHostParams/campaign/steps/0/params/sni PATTERN',
    ]);
    expect(play({ campaignIds: [999] }).issues).toContain('compromisedHostParams/campaignIds/0 CAMPAIGN_UNKNOWN');
  });
});

describe('steps of a campaign of the task', () => {
  const stepOf = (action: string, params: object, more: object = {}) => ({
    ...{ idx: 0, name: action, tactic: 'credential-access', technique: 'T1110.003', action, direction: 'outbound' },
    ...{ protocol: 'ftp', port: 2121, params, delayMs: 1000, jitterPct: 0, repeat: 1, requires: [] },
    ...{ onBlocked: 'continue', expect: 'block', remediation: '', ...more },
  });
  const valuesOf = (step: object, more: object = {}) => ({
    compromisedHostParams: { campaign: { name: 'Own', steps: [step] }, ...more },
  });
  const textsOf = (attempts: readonly Attempt[]) =>
    attempts.map(({ exchange }) =>
      exchange.protocol === 'raw'
        ? exchange.sends.map(({ content }) => ('data' in content ? Buffer.from(content.data, 'base64').toString() : ''))
        : [],
    );

  it('sign in with the accounts of a dictionary, as each protocol does', () => {
    const dictionaries = new Map([[4, { name: 'Accounts', values: ['anna', 'bert:secret\r\nQUIT'], isCut: false }]]);
    const sentLines = (protocol: string) => {
      const params = { protocol, dictionaryId: 4, attempts: 5 };
      const { attempts, issues } = planned(19, valuesOf(stepOf('login-spray', params)), new Map(), { dictionaries });
      expect([issues, unsound(attempts)]).toEqual([[], []]);
      return textsOf(attempts);
    };
    expect(sentLines('ftp')).toEqual([
      ['USER anna\r\n', 'PASS Winter-2026\r\n', 'QUIT\r\n'],
      ['USER bert\r\n', 'PASS secretQUIT\r\n', 'QUIT\r\n'],
    ]);
    expect(sentLines('imap')[0]).toEqual(['a1 LOGIN "anna" "Winter-2026"\r\n', 'a2 LOGOUT\r\n']);
    expect(sentLines('smtp')[1]?.[1]).toBe(`AUTH PLAIN ${Buffer.from('\0bert\0secretQUIT').toString('base64')}\r\n`);
  });

  it('are greeted by the server, so that nothing else speaks on their port', () => {
    const { attempts, issues } = planned(19, valuesOf(stepOf('login-spray', { protocol: 'smtp' })), new Map());
    expect(issues).toEqual([]);
    const greetings = attempts.map(({ exchange }) => (exchange.protocol === 'raw' ? exchange.greeting : undefined));
    expect(new Set(greetings.map((one) => one && 'data' in one && Buffer.from(one.data, 'base64').toString()))).toEqual(
      new Set(['220 server.example.test ESMTP\r\n']),
    );
  });

  it('look for generated names in many domains', () => {
    const params = { count: 6, domains: ['test', 'example', 'invalid'], labelLength: 14 };
    const step = stepOf('dga-lookup', params, { protocol: 'dns', port: 53 });
    const names = planned(19, valuesOf(step), new Map()).attempts.flatMap(({ exchange }) =>
      exchange.protocol === 'dns' ? exchange.qname : [],
    );
    expect(names.map((name) => name.split('.')[1])).toEqual([...params.domains, ...params.domains]);
    expect(new Set(names).size).toBe(6);
  });

  it('look at every port of every address, and only open ports are listened on', () => {
    const params = { count: 3, ports: '21-23,80,443', open: '80' };
    const swept = stepOf('host-sweep', params, { protocol: 'tcp', port: 445 });
    const web = stepOf('http-beacon', {}, { idx: 1, protocol: 'http', port: 443 });
    const both = { compromisedHostParams: { campaign: { name: 'Own', steps: [swept, web] } } };
    const { attempts, client, server, issues } = planned(19, both, new Map());
    expect([issues, unsound(attempts)]).toEqual([[], []]);
    const scans = attempts.flatMap(({ exchange, addressIndex, service }) =>
      exchange.protocol === 'scan' ? [{ port: exchange.port, isOpen: exchange.isOpen, addressIndex, service }] : [],
    );
    expect(scans).toHaveLength(15);
    expect(scans.map(({ addressIndex }) => addressIndex)).toEqual([0, 1, 2].flatMap((n) => Array(5).fill(n)));
    // Port 443 is open because another step is served there.
    expect([...new Set(scans.flatMap(({ port, isOpen }) => (isOpen ? port : [])))]).toEqual([80, 443]);
    const served = new Set((server['listen'] as { port: number }[]).map(({ port }) => port));
    expect(served).toEqual(new Set([80, 443]));
    const services = (client['targets'] as { service: string }[]).map(({ service }) => service);
    expect(scans.every(({ service }) => services.includes(service))).toBe(true);
  });

  it('look at open ports only where the server could not tell who refused', () => {
    const ping = [{ engine: 'icmp', available: true, way: 'ping socket', version: '1', missing: [], reason: '' }];
    const agents = [
      agentOf(1),
      agentOf(2, { engines: [...agentOf(2).engines.filter((one) => one.engine !== 'icmp'), ...ping] }),
    ];
    const step = stepOf('port-scan', { ports: '9001-9003', open: '9001' }, { protocol: 'tcp', port: 0 });
    const { attempts } = planned(19, valuesOf(step), new Map(), { agents });
    expect(attempts.map(({ exchange, service }) => `${exchange.protocol} ${service}`)).toEqual([
      ...['raw raw-tcp-9001', 'raw raw-tcp-9002', 'raw raw-tcp-9003'],
    ]);
  });

  it.each(tlsProfiles)('beacon over TLS as a client of the kind "%s"', (tlsProfile) => {
    const step = stepOf('https-beacon', { tlsProfile }, { protocol: 'https', port: 8443 });
    const { attempts, issues } = planned(19, valuesOf(step), new Map());
    expect([issues, unsound(attempts)]).toEqual([[], []]);
    const { exchange } = attempts[0] as Attempt;
    expect('hello' in exchange).toBe(tlsProfile !== 'default');
  });

  it('fetch a sample by its id, and nothing when it is not here', () => {
    const fetched = (fileID: number) =>
      planned(19, valuesOf(stepOf('file-download', { fileID }, { protocol: 'http' })), byId(sampleOf(7))).attempts;
    const [attempt] = fetched(7);
    expect(JSON.stringify(attempt?.exchange)).toContain(`"file":"${sampleOf(7).copies.get('none')?.plainSha256}"`);
    expect(fetched(8)).toEqual([]);
  });

  it('are echoes only where both agents have raw sockets', () => {
    const step = stepOf('icmp-beacon', { bytes: 48 }, { protocol: 'icmp', port: 0, repeat: 2 });
    const { attempts, client, issues } = planned(19, valuesOf(step), new Map());
    expect(issues).toEqual([]);
    expect(attempts.map(({ exchange }) => exchange)).toMatchObject([{ protocol: 'icmp' }, { protocol: 'icmp' }]);
    expect(client['targets']).toMatchObject([{ protocol: 'icmp', transport: 'icmp' }]);
    const ping = [{ engine: 'icmp', available: true, way: 'ping socket', version: '1', missing: [], reason: '' }];
    const agents = [
      agentOf(1),
      agentOf(2, { engines: [...agentOf(2).engines.filter((one) => one.engine !== 'icmp'), ...ping] }),
    ];
    expect(planned(19, valuesOf(step), new Map(), { agents }).issues).toContain(
      'warning compromisedHostParams/campaign STEP_LEFT_OUT',
    );
  });

  it('are done again and again for as long as the run lasts, and never without an end', () => {
    const step = stepOf('http-beacon', {}, { protocol: 'http', port: 8088, delayMs: 2000 });
    const looped = { ...valuesOf(step, { loop: true }), duration: { mode: 'time', seconds: 10 } };
    const { attempts, issues } = planned(19, looped, new Map());
    expect(issues).toEqual([]);
    expect(attempts.map(({ variant }) => variant)).toEqual([
      '1 http-beacon',
      ...[2, 3, 4, 5].map((round) => `round ${round}/1 http-beacon`),
    ]);
    expect(planned(19, valuesOf(step, { loop: true }), new Map()).issues).toContain(
      'compromisedHostParams/loop DURATION_MISSING',
    );
  });
});

it('plans stay small whatever a task asks for', () => {
  const step = {
    ...{
      idx: 0,
      name: 'leak',
      tactic: 'exfiltration',
      technique: 'T1041',
      action: 'http-exfil',
      direction: 'outbound',
    },
    ...{ protocol: 'http', port: 8081, params: { bytes: 8_388_608, chunkBytes: 4096 }, delayMs: 0, jitterPct: 0 },
    ...{ repeat: 1000, requires: [], onBlocked: 'continue', expect: 'block', remediation: '' },
  };
  const steps = Array.from({ length: 200 }, (_, idx) => ({ ...step, idx }));
  const large = { compromisedHostParams: { hosts: 100_000, campaign: { name: 'Large', steps } } };
  expect(planned(19, large, new Map()).issues).toContain('compromisedHostParams TOO_MANY_ATTEMPTS');
  const delivery = Array.from({ length: 32 }, () => ({ protocol: 'http', direction: 'download' }));
  const samples = byId(...Array.from({ length: 200 }, (_, n) => sampleOf(n + 1)));
  const many = { malwareFiles: [...samples.keys()], payload: { delivery, repeat: 1000 } };
  expect(planned(17, many, samples).issues).toContain('payload/repeat TOO_MANY_ATTEMPTS');
});

it('every action has its limits, and no content names anybody', () => {
  expect(Object.keys(campaignParams).sort()).toEqual([...campaignActions].sort());
  expect(foreignNames(benignTexts)).toEqual([]);
});
