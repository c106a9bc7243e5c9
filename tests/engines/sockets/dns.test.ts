import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, type Started, startJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram, stopProcess, waitForPort } from '../programs.ts';

takePriority();

const transports = ['udp', 'tcp', 'dot', 'doh'] as const;
const ports: Record<string, number> = {};
let server: Started;

const answers = [
  { name: 'example.test', type: 'A', data: '192.0.2.7' },
  { name: 'example.test', type: 'AAAA', data: '2001:db8::7' },
  { name: 'example.test', type: 'MX', data: '10 mail.example.test' },
  { name: 'example.test', type: 'TXT', data: '"v=test" "two words"' },
  { name: 'example.test', type: 'SOA', data: 'ns.example.test admin.example.test 1 2 3 4 5' },
  { name: '_sip._tcp.example.test', type: 'SRV', data: '1 2 5060 sip.example.test' },
  { name: '7.2.0.192.in-addr.arpa', type: 'PTR', data: 'example.test' },
  { name: 'www.example.test', type: 'CNAME', data: 'example.test' },
  { name: '*.wild.test', type: 'A', data: '192.0.2.9' },
  { name: 'big.test', type: 'TXT', data: 'x'.repeat(1500) },
];

beforeAll(async () => {
  for (const program of ['dig', 'dnsmasq']) requireProgram(program);
  for (const transport of ['udp', 'dot', 'doh']) ports[transport] = await freePort();
  ports['tcp'] = ports['udp'] as number;
  const listen = transports.map((transport) => ({ host: '127.0.0.1', port: ports[transport], transport }));
  server = await startServer('dns', { listen, answers });
});
afterAll(() => server.stop());

const dig = async (...args: string[]) =>
  (await execute('dig', ['@127.0.0.1', '-p', String(ports['udp']), '+tries=1', '+time=3', ...args])).stdout;
const client = (port: number | undefined, more: object) => ({
  role: 'client',
  targets: [{ host: '127.0.0.1', port }],
  ...more,
});

describe('dns server queried by dig', () => {
  it.each([
    [['example.test', 'A'], '192.0.2.7'],
    [['EXAMPLE.test', 'AAAA'], '2001:db8::7'],
    [['example.test', 'MX'], '10 mail.example.test.'],
    [['example.test', 'TXT'], '"v=test" "two words"'],
    [['example.test', 'SOA'], 'ns.example.test. admin.example.test. 1 2 3 4 5'],
    [['_sip._tcp.example.test', 'SRV'], '1 2 5060 sip.example.test.'],
    [['-x', '192.0.2.7'], 'example.test.'],
    [['www.example.test', 'A'], 'example.test.\n192.0.2.7'],
    [['any.thing.wild.test', 'A'], '192.0.2.9'],
  ])('answers %j', async (question, answer) => {
    expect((await dig('+short', ...question)).trim()).toBe(answer);
  });

  it('answers the same over TCP, TLS and HTTPS', async () => {
    expect((await dig('+short', '+tcp', 'example.test')).trim()).toBe('192.0.2.7');
    expect((await dig('+short', '+tls', '-p', String(ports['dot']), 'example.test')).trim()).toBe('192.0.2.7');
    expect((await dig('+short', '+https', '-p', String(ports['doh']), 'example.test')).trim()).toBe('192.0.2.7');
    expect((await dig('+short', '+https-get', '-p', String(ports['doh']), 'example.test')).trim()).toBe('192.0.2.7');
  });

  it.each(['--http1.1', '--http2'])('answers by HTTPS and refuses what is no query: curl %s', async (version) => {
    const at = (path: string) => `https://127.0.0.1:${ports['doh']}${path}`;
    const shown = ['-w', '%{http_version} %{http_code} %{content_type}'];
    const curl = async (...args: string[]) => (await execute('curl', ['-sk', version, ...shown, ...args])).stdout;
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-doh-'));
    const query = join(folder, 'query');
    writeFileSync(query, Buffer.from('abcd01000001000000000000076578616d706c6504746573740000010001', 'hex'));
    const body = ['--data-binary', `@${query}`];
    const typed = ['-H', 'content-type: application/dns-message', ...body];
    const number = version === '--http2' ? '2' : '1.1';
    const answer = join(folder, 'answer');
    expect(await curl(...typed, '-o', answer, at('/dns-query'))).toBe(`${number} 200 application/dns-message`);
    expect(readFileSync(answer).subarray(-4).toString('hex')).toBe('c0000207');
    const both = await curl(...typed, '-o', answer, '-o', answer, at('/dns-query'), at('/dns-query'));
    expect(both).toBe(`${number} 200 application/dns-message`.repeat(2));
    expect(await curl(...typed, at('/other'))).toBe(`${number} 404 `);
    expect(await curl(...body, at('/dns-query'))).toBe(`${number} 415 `);
    expect(await curl('-X', 'PUT', ...typed, at('/dns-query'))).toBe(`${number} 405 `);
    expect(await curl(at('/dns-query?dns=AAAA'))).toBe(`${number} 400 `);
    rmSync(folder, { recursive: true });
  });

  it('answers NXDOMAIN and empty answers', async () => {
    expect(await dig('nothing.test')).toContain('status: NXDOMAIN');
    const none = await dig('www.example.test', 'SRV');
    expect(none).toContain('status: NOERROR');
    expect(await dig('+opcode=status', 'example.test')).toContain('status: NOTIMP');
  });

  it('truncates answers too large for UDP, and dig retries over TCP', async () => {
    expect(await dig('+ignore', '+noedns', 'big.test', 'TXT')).toMatch(/flags: [a-z ]*\btc\b/);
    expect(await dig('+short', 'big.test', 'TXT')).toContain('x'.repeat(255));
    expect(await dig('+ignore', '+bufsize=4096', 'big.test', 'TXT')).not.toMatch(/flags: [a-z ]*\btc\b/);
  });
});

describe('dns client', () => {
  it.each(transports)('gets every answer over %s', async (transport) => {
    const config = client(ports[transport], {
      transport,
      names: ['example.test', 'nothing.test'],
      types: ['A', 'MX'],
      sockets: 2,
    });
    const run = await runJob({ engine: 'dns', config, duration: { mode: 'count', count: 200 } });
    expect(run.outcome.status).toBe('finished');
    expect(run.counter('dns.queries')).toBe(200);
    expect(run.counter('dns.answers')).toBe(200);
    expect(run.counter('dns.rcode.NOERROR')).toBe(100);
    expect(run.counter('dns.rcode.NXDOMAIN')).toBe(100);
    expect(run.histogram('dns.latency').count).toBe(200);
    if (transport !== 'udp') expect(run.counter('dns.connections')).toBe(2);
  });

  it('sends as many queries as dnsmasq counts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-dnsmasq-'));
    const port = await freePort();
    const log = join(folder, 'log');
    const options = ['--no-daemon', '--no-resolv', '--no-hosts', '--listen-address=127.0.0.1', '--bind-interfaces'];
    const records = ['--address=/known.test/192.0.2.55', '--log-queries', `--log-facility=${log}`, '--user=root'];
    const child = spawn('dnsmasq', [...options, ...records, `--port=${port}`, `--pid-file=${folder}/pid`], {
      stdio: 'ignore',
    });
    try {
      await waitForPort(port);
      const config = client(port, {
        names: ['known.test'],
        randomPrefix: true,
        edns: { size: 1232 },
        load: { rate: 500 },
      });
      const run = await runJob({ engine: 'dns', config, duration: { mode: 'count', count: 500 } });
      const asked = () =>
        readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => /query\[A\] [0-9a-f]{8}\.known\.test/.test(line));
      expect(run.counter('dns.queries')).toBe(500);
      await expect.poll(asked).toHaveLength(500);
      expect(new Set(asked().map((line) => / (\w{8})\.known/.exec(line)?.[1])).size).toBe(500);
      expect(run.counter('dns.rcode.NOERROR')).toBe(500);
    } finally {
      await stopProcess(child);
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('counts truncated answers', async () => {
    const config = client(ports['udp'], { names: ['big.test'], types: ['TXT'] });
    const run = await runJob({ engine: 'dns', config, duration: { mode: 'count', count: 10 } });
    expect(run.counter('dns.truncated')).toBe(10);
  });

  it('retries, then gives up, without an answer; and ignores wrong answers', async () => {
    const silent = createSocket('udp4');
    silent.on('message', (message, from) => {
      // The right id, but an answer to another question.
      message.writeUInt16BE(0x8000, 2);
      message.write('zz', 13);
      silent.send(message, from.port, from.address);
    });
    silent.bind(0, '127.0.0.1');
    await once(silent, 'listening');
    const config = client(silent.address().port, {
      names: ['example.test'],
      timeoutMs: 60,
      retries: 2,
      concurrency: 5,
    });
    const run = await runJob({ engine: 'dns', config, duration: { mode: 'count', count: 5 } });
    silent.close();
    expect(run.counter('dns.queries')).toBe(15);
    expect(run.counter('dns.retries')).toBe(10);
    expect(run.counter('dns.timeouts')).toBe(5);
    expect(run.counter('dns.mismatched')).toBe(15);
    expect(run.counter('dns.answers')).toBe(0);
  });

  it('continues on a new connection when the server closes the old one', async () => {
    const port = await freePort();
    const listen = [{ host: '127.0.0.1', port, transport: 'tcp' }];
    const first = await startServer('dns', { listen, answers });
    const config = client(port, {
      transport: 'tcp',
      names: ['example.test'],
      load: { rate: 100 },
      sockets: 1,
      timeoutMs: 500,
    });
    const answered: number[] = [];
    const running = startJob({ engine: 'dns', config, duration: { mode: 'continuous' } }, ({ series }) => {
      answered.push(series.reduce((sum, { counters }) => sum + (counters['dns.answers'] ?? 0), 0));
    });
    const sumFrom = (second: number) => answered.slice(second).reduce((sum, count) => sum + count, 0);
    await expect.poll(() => sumFrom(0)).toBeGreaterThan(30);
    await first.stop();
    // The second that is under way still has answers of the first server.
    const later = answered.length + 1;
    const second = await startServer('dns', { listen, answers });
    await expect.poll(() => sumFrom(later)).toBeGreaterThan(30);
    const run = await running.stop();
    expect(run.counter('dns.connections')).toBeGreaterThanOrEqual(2);
    expect((await second.stop()).counter('dns.answered')).toBeGreaterThan(30);
  });
});
