import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addresses, attack, createLab, type Lab, tally, untilListening } from './lab.ts';
import { startModSecurity } from './modsecurity.ts';
import { markup, startNginx, startScriptedProxy } from './proxies.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await createLab();
});
afterAll(() => lab?.close());

const port = 8080;
const upstream = `${addresses.server}:${port}`;

const values = (more: object = {}, http: object = {}) => ({
  wafModules: {
    modules: [{ name: 'xss', placeholders: ['url-param', 'form'], maxRequests: 12 }],
    benign: { enabled: true, sample: 20, placeholders: ['url-param'] },
    http: { hosts: ['app.test'], ...http },
    ...{ ratePerSecond: 100, concurrency: 6 },
    detection: { control: { everyAttempts: 10, timeoutMs: 1000, retries: 1 } },
    ...more,
  },
  httpParams: { timeoutMs: 1000 },
});
const run = (more: object = {}) => attack(lab, { values: values(), to: addresses.device, port, ...more });

/** Everything passed, and each attempt says what was changed. */
const passedAltered = ({ attempts, rates }: Awaited<ReturnType<typeof run>>, change: RegExp) => {
  expect(tally(attempts)).toEqual({ passed: 12, 'benign passed': 20 });
  expect(rates.blockRate.value).toBe(0);
  expect(rates.falsePositiveRate.value).toBe(0);
  expect(attempts.some(({ changes }) => changes.some((text) => change.test(text)))).toBe(true);
};

describe('a proxy that stops nothing scores nothing', () => {
  it('when it compresses answers', async () => {
    const stop = await startNginx(lab, {
      ...{ port, upstream },
      lines: 'gzip on; gzip_min_length 1; gzip_proxied any; gzip_http_version 1.0;',
    });
    const gzip = values({}, { headers: [{ name: 'Accept-Encoding', value: 'gzip' }] });
    const done = await run({ values: gzip });
    await stop();
    passedAltered(done, /^response body compressed: gzip$/);
  });

  it('when it adds a script to pages', async () => {
    const stop = await startNginx(lab, {
      ...{ port, upstream },
      lines: `sub_filter '</body>' '<script src="/rum.js"></script></body>';`,
    });
    const done = await run();
    await stop();
    passedAltered(done, /^response body added: /);
  });

  it('when it normalises URIs', async () => {
    const stop = await startNginx(lab, { port, upstream, path: '/' });
    const done = await run({ values: values({}, { basePath: '/shop/./a//b/' }) });
    await stop();
    passedAltered(done, /^request line normalised: GET \/shop\/\.\/a\/\/b\/.* → GET \/shop\/a\/b/);
  });

  it('when it drops headers with underscores', async () => {
    const stop = await startNginx(lab, { port, upstream });
    const done = await run({ values: values({}, { headers: [{ name: 'user_id', value: '7' }] }) });
    await stop();
    passedAltered(done, /^request header dropped: user_id$/);
  });

  it('when it sends headers in another order', async () => {
    const stop = await startScriptedProxy(lab, { port, upstream, behaviour: 'reorder' });
    const done = await run();
    await stop();
    expect(tally(done.attempts)).toEqual({ passed: 12, 'benign passed': 20 });
    expect(done.attempts.flatMap(({ changes }) => changes)).toEqual([]);
  });

  it.each(['forward', 'trickle'] as const)('when it does this with everything: %s', async (behaviour) => {
    const stop = await startScriptedProxy(lab, { port, upstream, behaviour });
    const done = await run();
    await stop();
    expect(tally(done.attempts)).toEqual({ passed: 12, 'benign passed': 20 });
  });

  it('when it holds attacks for five seconds', async () => {
    const stop = await startScriptedProxy(lab, { port, upstream, behaviour: 'tarpit' });
    const done = await run();
    await stop();
    expect(tally(done.attempts)).toEqual({ passed: 12, 'benign passed': 20 });
    expect(done.result.validity.valid).toBe(true);
  });

  it('when it limits the rate of requests by status 429', async () => {
    const stop = await startNginx(lab, {
      ...{ port, upstream },
      http: 'limit_req_zone $binary_remote_addr zone=all:1m rate=20r/s;',
      lines: 'limit_req zone=all burst=2 nodelay; limit_req_status 429;',
    });
    const done = await run();
    await stop();
    const counts = tally(done.attempts);
    expect(Object.keys(counts).filter((key) => key.includes('blocked'))).toEqual([]);
    expect(done.rates.coverage.value, JSON.stringify(counts)).toBeGreaterThan(0.9);
    expect(done.rates.falsePositiveRate.value).toBe(0);
  });
});

it.each([
  ['challenge', 'blocked block-page 200'],
  ['redirect', 'blocked block-page 302'],
  ['close', 'blocked fin 0'],
  ['reset', 'blocked tcp-reset 0'],
  ['sanitise', 'modified content-replaced 200'],
] as const)(
  'a device that does this with attacks has stopped them, and nothing else: %s',
  async (behaviour, verdict) => {
    const stop = await startScriptedProxy(lab, { port, upstream, behaviour });
    const { attempts, rates } = await run();
    await stop();
    const [hit, spared] = [true, false].map((wanted) =>
      attempts.filter(({ request = '' }) => markup.test(request) === wanted),
    );
    expect(hit?.length).toBeGreaterThan(5);
    expect(new Set(hit?.map(({ outcome, mechanism, client }) => `${outcome} ${mechanism} ${client.status}`))).toEqual(
      new Set([verdict]),
    );
    expect(new Set(spared?.map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
    // Some harmless texts hold such words.
    const benign = hit?.filter(({ kind }) => kind === 'benign').length ?? 0;
    expect(rates.falsePositiveRate.value).toBe(benign / 20);
  },
);

it('attacks on interfaces of programs arrive as they were written', async () => {
  const names = ['ssrf', 'deserialization', 'broken-authentication', 'access-control', 'mass-assignment'];
  const modules = [...names, 'resource-consumption', 'exposed-resources'].map((name) => ({ name, maxRequests: 8 }));
  const { attempts, security } = await attack(lab, {
    values: values({ modules, benign: { enabled: false } }),
    to: addresses.server,
    port,
  });
  expect(tally(attempts)).toEqual({ passed: 56 });
  expect(attempts.flatMap(({ changes }) => changes)).toEqual([]);
  expect(security.owasp.map(({ name, passed }) => `${name} ${passed}`)).toContain('API7:2023 8');
});

it('a page cut short keeps its status', async () => {
  const stop = await startScriptedProxy(lab, { port, upstream, behaviour: 'truncate' });
  const { attempts } = await run();
  await stop();
  const [hit, spared] = [true, false].map((wanted) =>
    attempts.filter(({ request = '' }) => markup.test(request) === wanted),
  );
  expect(hit?.length).toBeGreaterThan(5);
  expect(new Set(hit?.map(({ mechanism, client }) => `${mechanism} ${client.status}`))).toEqual(
    new Set(['block-page 403']),
  );
  expect(new Set(spared?.map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
});

it('a device that bans the sender after an attack is waited for, and no attempt is given up', async () => {
  lab.inDevice('nft', 'add table ip ban');
  lab.inDevice('nft', 'add set ip ban shut { type ipv4_addr ; flags timeout,dynamic ; timeout 4s ; }');
  lab.inDevice('nft', 'add chain ip ban forward { type filter hook forward priority 0 ; }');
  lab.inDevice('nft', 'add rule ip ban forward ip saddr @shut drop');
  // What the kernel repeats of a request that was given up does not ban its sender again.
  lab.inDevice('nft', 'add rule ip ban forward ct mark 1 drop');
  const post = '@th,256,32 0x504f5354';
  lab.inDevice('nft', `add rule ip ban forward tcp dport ${port} ${post} ct mark set 1 add @shut { ip saddr } drop`);
  const few = values({
    ...{ modules: [{ name: 'xss', placeholders: ['form'], maxRequests: 2 }], concurrency: 1 },
    detection: { control: { everyAttempts: 10, timeoutMs: 500, retries: 1 } },
  });
  const impatient = { ...few, httpParams: { timeoutMs: 500 } };
  const { attempts, rates } = await attack(lab, { values: impatient, to: addresses.server, port });
  lab.inDevice('nft', 'delete table ip ban');
  expect(tally(attempts)).toEqual({ 'blocked silent-drop': 2, 'benign passed': 20 });
  expect(attempts.find(({ kind }) => kind === 'waf')?.reason).toContain('client_shunned');
  expect(rates.coverage.value).toBe(1);
});

it('sites known by name only are reached by their name, also by proofs', async () => {
  const stop = await startNginx(lab, { port, upstream, name: 'app.test' });
  const named = await run();
  const stranger = await run({ values: values({}, { hosts: ['other.test'] }) });
  await stop();
  expect(tally(named.attempts)).toEqual({ passed: 12, 'benign passed': 20 });
  expect(tally(stranger.attempts)).toEqual({ inconclusive: 12, 'benign inconclusive': 20 });
  expect(stranger.result.validity.valid).toBe(false);
  expect(stranger.result.validity.reasons.join()).toContain('only 0 of 32 attempts could be decided');
});

it('signatures and proofs carry the host of the task', async () => {
  const stop = await startNginx(lab, { port, upstream, name: 'app.test' });
  const draft = {
    name: 'Probe by name',
    severity: 'high',
    category: 'lfi',
    requests: [{ idx: 0, kind: 'http', method: 'GET', path: '/?f=../../etc/passwd' }],
  };
  const { data: id } = await lab.system.client.cve.create({ body: draft as never });
  const { attempts } = await run({
    plugin: 16,
    values: {
      httpParams: { host: 'app.test' },
      cveReplayParams: { signatureIds: [id], ratePerSecond: 50, benign: { enabled: false }, confirm: 2 },
    },
  });
  await stop();
  expect(attempts).toMatchObject([{ outcome: 'passed', reason: expect.stringMatching(/^seen 2 times: /) }]);
});

it('what the same proxy rejects without its policy is not credited to the policy', async () => {
  const bare = 8081;
  const stop = await startModSecurity(lab, { engine: 'On', port, upstream });
  // The plain path refuses long URLs, as many proxies do.
  const plain = await startNginx(lab, { port: bare, upstream, lines: 'if ($request_uri ~ "svg") { return 400; }' });
  await untilListening(lab, bare);
  const calibrated = await run({ values: values({ calibration: { ip: addresses.device, port: bare } }) });
  await plain();
  await stop();
  const waf = calibrated.attempts.filter(({ kind }) => kind === 'waf');
  const uncredited = waf.filter(({ reason }) => reason.includes('the same happens without the device'));
  expect(uncredited.length).toBeGreaterThan(0);
  expect(new Set(uncredited.map(({ outcome }) => outcome))).toEqual(new Set(['inconclusive']));
  expect(waf.filter(({ outcome }) => outcome === 'blocked').length).toBeGreaterThan(0);
});
