import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addresses, attack, createLab, type Lab, reportOf, tally, untilListening } from './lab.ts';
import { startModSecurity } from './modsecurity.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await createLab();
});
afterAll(() => lab?.close());

const port = 8080;
const upstream = `${addresses.server}:${port}`;

const modules = [
  'sql-injection',
  'xss',
  'rce',
  'command-injection',
  'path-traversal',
  'lfi',
  'ssti',
  'ssi',
  'ldap-injection',
  'nosql-injection',
].map((name) => ({ name, encoders: ['plain', 'url'], placeholders: ['url-param', 'form', 'json-body'] }));
const fast = { ratePerSecond: 500, concurrency: 8, detection: { control: { everyAttempts: 100 } } };
const values = {
  wafModules: {
    modules,
    benign: { enabled: true, sample: 500, placeholders: ['url-param', 'form', 'json-body'] },
    http: { hosts: ['app.test'] },
    ...fast,
  },
};
const fewer = {
  wafModules: {
    ...values.wafModules,
    modules: modules.map((module) => ({ ...module, maxRequests: 10 })),
    benign: { enabled: true, sample: 100, placeholders: ['url-param'] },
  },
};
/** A few attacks in the URL and in the body of requests. */
const few = (more: object = {}) => ({
  wafModules: {
    modules: [{ name: 'xss', placeholders: ['url-param', 'form'], maxRequests: 12 }],
    benign: { enabled: true, sample: 20, placeholders: ['url-param'] },
    ratePerSecond: 100,
    concurrency: 12,
    detection: { control: { everyAttempts: 10, timeoutMs: 700, retries: 1 } },
    ...more,
  },
});
const gate = [
  { name: 'blocks', metric: 'waf.blockRate', aggregation: 'last', operator: '>=', value: 85 },
  { name: 'spares', metric: 'waf.falsePositiveRate', aggregation: 'last', operator: '<=', value: 5 },
  { name: 'decided', metric: 'waf.coverage', aggregation: 'last', operator: '>=', value: 99 },
];

describe('nginx with ModSecurity and the Core Rule Set between our two agents', () => {
  it('blocks most attacks and few harmless requests in blocking mode', async () => {
    const stop = await startModSecurity(lab, { engine: 'On', port, upstream });
    const run = await attack(lab, { values, to: addresses.device, port, thresholds: gate });
    await stop();
    const { rates, attempts, result, security } = run;
    expect(rates.blockRate.value, JSON.stringify(tally(attempts))).toBeGreaterThanOrEqual(0.85);
    expect(rates.falsePositiveRate.value, JSON.stringify(tally(attempts))).toBeLessThanOrEqual(0.05);
    expect(rates.falsePositiveRate.n).toBe(500);
    expect(result).toMatchObject({ status: 7, verdict: 1 });
    expect(security.gate.passed).toBe(true);
    expect(security.mechanisms).toEqual([{ mechanism: 'block-page', count: expect.any(Number) }]);
    expect(security.falsePositives[0]?.request).toMatch(/^(GET|POST) /);
    const csv = await reportOf(lab, run.id, run.runId, 'csv');
    expect(csv.split('\r\n').filter((line) => /^\d+-[0-9a-f]{8}-\d+,/.test(line))).toHaveLength(attempts.length);
    expect(await reportOf(lab, run.id, run.runId, 'junit')).toContain('waf: sql-injection 1');
    expect(await reportOf(lab, run.id, run.runId, 'html')).toContain('Attacks not blocked');
  });

  it('blocks nothing in detection mode, which fails the gate, and nothing when absent', async () => {
    const detecting = await startModSecurity(lab, { engine: 'DetectionOnly', port, upstream });
    const watched = await attack(lab, { values: fewer, to: addresses.device, port, thresholds: gate });
    await detecting();
    expect(watched.rates.blockRate).toMatchObject({ value: 0, n: 100 });
    expect(watched.result.verdict).toBe(2);
    const none = await startModSecurity(lab, { engine: 'Off', port, upstream });
    const open = await attack(lab, { values: fewer, to: addresses.device, port });
    await none();
    const direct = await attack(lab, { values: few(), to: addresses.server, port });
    for (const { attempts } of [open, direct])
      expect(new Set(attempts.map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
  });

  it('is tested over HTTP/2, which it supports only towards clients', async () => {
    const stop = await startModSecurity(lab, { engine: 'On', port, upstream, isSecure: true });
    const values = few({ http: { versions: ['2'], tls: true, hosts: ['app.test'] } });
    const { attempts, rates } = await attack(lab, { values, to: addresses.device, port });
    await stop();
    expect(rates.coverage.value, JSON.stringify(tally(attempts))).toBe(1);
    expect(rates.blockRate.value, JSON.stringify(tally(attempts))).toBeGreaterThan(0.5);
    expect(rates.falsePositiveRate.value, JSON.stringify(tally(attempts))).toBeLessThanOrEqual(0.1);
    expect(attempts[0]?.request).toMatch(/HTTP\/2/);
  });

  it.each(['page', 'status'] as const)(
    'is tested by gRPC calls, where it takes nothing else and refuses with a %s',
    async (grpc) => {
      const stop = await startModSecurity(lab, { engine: 'On', port, upstream, grpc });
      const modules = ['sql-injection', 'xss'].map((name) => ({ name, placeholders: ['grpc'], maxRequests: 15 }));
      const benign = { enabled: true, sample: 20, placeholders: ['grpc'] };
      const { attempts, rates, security } = await attack(lab, {
        values: few({ modules, benign }),
        to: addresses.device,
        port,
      });
      await stop();
      const counts = tally(attempts);
      expect(rates.coverage.value, JSON.stringify(counts)).toBe(1);
      expect(rates.blockRate.value, JSON.stringify(counts)).toBeGreaterThan(0.3);
      expect(counts['passed'], JSON.stringify(counts)).toBeGreaterThan(0);
      expect(counts['benign passed'], JSON.stringify(counts)).toBeGreaterThanOrEqual(18);
      expect(security.mechanisms).toEqual([{ mechanism: 'block-page', count: expect.any(Number) }]);
      const stopped = attempts.filter(({ kind, outcome }) => kind === 'waf' && outcome === 'blocked');
      expect(new Set(stopped.map(({ client }) => client.status))).toEqual(new Set([grpc === 'page' ? 403 : 200]));
      expect(attempts.every(({ changes }) => changes.length === 0)).toBe(true);
    },
  );

  it('is compared with its previous run', async () => {
    const stop = await startModSecurity(lab, { engine: 'On', port, upstream });
    const first = await attack(lab, { values: few(), to: addresses.device, port });
    await stop();
    const off = await startModSecurity(lab, { engine: 'Off', port, upstream });
    const thresholds = [{ name: 'no worse', metric: 'waf.newPassed', aggregation: 'last', operator: '<=', value: 0 }];
    const again = await attack(lab, { task: first.id, values: {}, to: addresses.device, port, thresholds });
    await off();
    expect(again.security.baselineRunID).toBe(first.runId);
    expect(again.security.comparison?.newlyPassed).toHaveLength(12);
    expect(again.result.verdict).toBe(2);
  });
});

describe('other devices on the path', () => {
  /** Payload of POST requests: a TCP header with timestamps has 32 bytes. */
  const treatPosts = (verdict: string) => {
    lab.inDevice('nft', 'add table ip guard');
    lab.inDevice('nft', 'add chain ip guard forward { type filter hook forward priority 0 ; }');
    lab.inDevice('nft', `add rule ip guard forward tcp dport ${port} @th,256,32 0x504f5354 ${verdict}`);
  };
  /** The results of attacks in URLs and of those in bodies. */
  const byMethod = (attempts: Parameters<typeof tally>[0]) => {
    const of = (position: string) =>
      Object.keys(tally(attempts.filter(({ kind, variant }) => kind === 'waf' && variant.endsWith(position))));
    return { GET: of('url-param'), POST: of('form') };
  };
  const openAgain = () => lab.inDevice('nft', 'delete table ip guard');

  it('dropping and resetting nftables rules are distinguished', async () => {
    treatPosts('drop');
    const dropped = await attack(lab, { values: few(), to: addresses.server, port });
    openAgain();
    expect(byMethod(dropped.attempts)).toEqual({ GET: ['passed'], POST: ['blocked silent-drop'] });
    treatPosts('reject with tcp reset');
    const reset = await attack(lab, { values: few(), to: addresses.server, port });
    openAgain();
    expect(byMethod(reset.attempts)).toEqual({ GET: ['passed'], POST: ['blocked tcp-reset'] });
  });

  it('denied requests, replaced answers and stripped bytes of HAProxy are detected', async () => {
    const config = lab.file(
      'haproxy.cfg',
      `
      defaults
        mode http
        timeout connect 2s
        timeout client 5s
        timeout server 5s
      frontend web
        bind :${port}
        http-request set-var(txn.method) method
        http-request deny deny_status 403 if { url_sub -i svg }
        http-request replace-uri ^(.*)%3Cscript%3E(.*)$ \\1\\2
        http-response return status 200 content-type text/html string "<h1>Request stopped</h1>" if { var(txn.method) -m str POST }
        default_backend app
      backend app
        server app ${upstream}
`,
    );
    const stop = lab.startInDevice('haproxy', '-f', config, '-db');
    await untilListening(lab, port);
    const { attempts, security } = await attack(lab, {
      values: few({ modules: [{ name: 'xss', placeholders: ['url-param', 'form'] }] }),
      to: addresses.device,
      port,
    });
    await stop();
    const of = (isWanted: (variant: string, name: string) => boolean) =>
      new Set(
        attempts
          .filter(({ kind, variant, refName }) => kind === 'waf' && isWanted(variant, refName))
          .map(({ outcome, mechanism }) => `${outcome} ${mechanism}`),
      );
    expect(of((variant) => variant === 'plain/form')).toEqual(new Set(['blocked response-blocked']));
    expect(of((variant, name) => variant === 'plain/url-param' && name === 'xss 1')).toEqual(
      new Set(['modified content-replaced']),
    );
    expect(of((variant, name) => variant === 'plain/url-param' && name === 'xss 4')).toEqual(
      new Set(['blocked block-page']),
    );
    expect(tally(attempts)['benign passed']).toBe(20);
    expect(security.rates.falsePositiveRate.value).toBe(0);
  });

  it('a device that is down, or fails during the run, has blocked nothing', async () => {
    const dead = await attack(lab, { values: few(), to: addresses.device, port });
    expect(new Set(dead.attempts.map(({ outcome }) => outcome))).toEqual(new Set(['inconclusive']));
    expect(dead.attempts[0]?.reason).toContain('path_not_proven');
    expect(dead.rates.blockRate).toMatchObject({ value: null, n: 0 });
    const stop = await startModSecurity(lab, { engine: 'Off', port, upstream });
    const slow = few({
      modules: [{ name: 'xss', placeholders: ['url-param', 'form', 'json-body', 'header'] }],
      ratePerSecond: 20,
    });
    const during = async () => {
      await sleep(2500);
      await stop();
    };
    const dying = await attack(lab, { values: slow, to: addresses.device, port, during });
    const counts = tally(dying.attempts);
    expect(counts['inconclusive'], JSON.stringify(counts)).toBeGreaterThan(10);
    expect(Object.keys(counts).filter((key) => key.includes('blocked'))).toEqual([]);
    expect(dying.security.isConclusive).toBe(false);
  });
});
