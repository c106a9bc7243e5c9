import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createSelfSigned } from '@rushhour/agent';
import { ensureDebianPackages } from '../scripts/debian-packages.ts';
import { freePort } from '../tests/process/free-port.ts';
import {
  answer,
  answerJob,
  type Contest,
  hold,
  jobProgram,
  seconds,
  stop,
  untilListening,
} from './dataplane-contest.ts';
import { processorSeconds, residentBytes } from './process-usage.ts';
import { type Row, report } from './report.ts';

// What a generator does in one second of its processor: a busy machine changes the rate, hardly this.

const execute = promisify(execFile);
const identity = createSelfSigned(['localhost', '127.0.0.1']);
// Newer versions of OpenSSL would otherwise send larger keys as well.
const groups = 'X25519:P-256';
const script = `TIMEFORMAT='cpu %U %S'; time taskset -c 0 "$@"`;

/** Runs a program; returns what it counted, or the given amount of work, for one second of its processor. */
const perCpuSecond = async (count: RegExp | number, program: string, ...args: string[]): Promise<number> => {
  const { stdout, stderr } = await execute('bash', ['-c', script, 'bash', program, ...args], { maxBuffer: 1e8 });
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  const done = typeof count === 'number' ? count : Number(count.exec(stdout)?.[1]);
  return done / (Number(user) + Number(system));
};

/** Runs one of our engines as generator; returns a metric for one second of its processor. */
const ours = async (engine: string, config: object, metric: string): Promise<number> => {
  const job = JSON.stringify({ engine, config: { role: 'client', ...config }, seconds });
  const { stdout } = await execute('taskset', ['-c', '0', ...jobProgram, job], { maxBuffer: 1e8 });
  const counted = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
  return ((counted[metric] ?? 0) * 1e6) / ((counted['userUs'] ?? 0) + (counted['systemUs'] ?? 0));
};

const startServer = async (body: object, more: object = {}) => {
  const port = await freePort();
  const config = {
    listen: [{ host: '127.0.0.1', port }],
    responses: [{ body }],
    tls: { ...identity, groups },
    ...more,
  };
  const child = await answerJob('http', config);
  return { port, targets: [{ host: '127.0.0.1', port }], pid: child.pid, close: () => stop(child) };
};

const small = { type: 'text', data: 'hello world\n' };
const tls = { versions: ['1.3'], groups };
const wrkArguments = (port: number, connections: number) => [
  ...['-t1', `-c${connections}`, `-d${seconds}`],
  `https://127.0.0.1:${port}/`,
];
const wrk = (port: number, connections: number) =>
  perCpuSecond(/(\d+) requests in/, 'wrk', ...wrkArguments(port, connections));

const fullHandshakes: Contest = {
  name: 'tls-full-handshakes',
  async prepare() {
    const { port, targets, close } = await startServer(small, { keepAlive: { enabled: false } });
    const config = { targets, tls, connections: 20, keepAlive: { enabled: false } };
    const ab = ['-q', '-t', String(seconds), '-n', '1000000', '-c', '20', `https://127.0.0.1:${port}/`];
    return {
      contenders: {
        ours: () => ours('http', config, 'http.ok'),
        ab: () => perCpuSecond(/Complete requests:\s+(\d+)/, 'ab', ...ab),
      },
      close,
    };
  },
  goals: [{ of: 'ours', to: 'ab', goal: 1 }],
};

const resumedHandshakes: Contest = {
  name: 'tls-resumed-handshakes',
  async prepare() {
    const { port, targets, close } = await startServer(small);
    const config = { targets, tls: { ...tls, resumption: 'psk' }, connections: 20 };
    const timed = ['s_time', '-connect', `127.0.0.1:${port}`, '-reuse', '-time', String(seconds), '-www', '/'];
    return {
      contenders: {
        ours: () => ours('tls', config, 'tls.resumed'),
        s_time: () => perCpuSecond(/(\d+) connections in \d+ real seconds/, 'openssl', ...timed),
      },
      close,
    };
  },
  goals: [{ of: 'ours', to: 's_time', goal: 1.2 }],
};

const keepAlive: Contest = {
  name: 'https-keep-alive',
  async prepare() {
    const { port, targets, close } = await startServer(small);
    const config = { targets, tls, connections: 50 };
    return {
      contenders: {
        io_uring: () => ours('http', config, 'http.ok'),
        node: () => ours('http', { ...config, dataPath: 'node' }, 'http.ok'),
        wrk: () => wrk(port, 50),
      },
      close,
    };
  },
  goals: [
    { of: 'io_uring', to: 'wrk', goal: 0.9 },
    { of: 'io_uring', to: 'node', goal: 2 },
  ],
};

const bulk: Contest = {
  name: 'https-1mb',
  async prepare() {
    const { port, targets, close } = await startServer({ type: 'zero', size: 1_048_576 });
    return {
      contenders: {
        ours: () => ours('http', { targets, tls, connections: 10 }, 'http.ok'),
        wrk: () => wrk(port, 10),
      },
      close,
    };
  },
  goals: [{ of: 'ours', to: 'wrk', goal: 0.85 }],
};

const h2: Contest = {
  name: 'http2-50x10',
  async prepare() {
    const { port, targets, close } = await startServer(small, { version: '2' });
    const load = ['-t', '1', '-c', '50', '-m', '10', '-D', String(seconds), `https://127.0.0.1:${port}/`];
    return {
      contenders: {
        ours: () => ours('http', { targets, tls, version: '2', connections: 50, maxStreams: 10 }, 'http.ok'),
        h2load: () => perCpuSecond(/(\d+) succeeded/, 'h2load', ...load),
      },
      close,
    };
  },
  goals: [{ of: 'ours', to: 'h2load', goal: 1 }],
};

const dot: Contest = {
  name: 'dns-over-tls',
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
    const queries = join(folder, 'queries');
    writeFileSync(queries, 'host1.example.com A\n');
    const port = await freePort();
    const child = await answerJob('dns', {
      listen: [{ host: '127.0.0.1', port, transport: 'dot' }],
      answers: [{ name: 'host1.example.com', type: 'A', data: '192.0.2.1' }],
      tls: { ...identity, groups },
    });
    const common = { names: ['host1.example.com'], sockets: 4, concurrency: 100, transport: 'dot', tls };
    const config = { targets: [{ host: '127.0.0.1', port }], ...common };
    const options = ['-m', 'dot', '-s', '127.0.0.1', '-p', String(port), '-d', queries, '-l', String(seconds)];
    return {
      contenders: {
        ours: () => ours('dns', config, 'dns.answers'),
        dnsperf: () => perCpuSecond(/Queries completed:\s+(\d+)/, 'dnsperf', ...options, '-q', '100', '-c', '4'),
      },
      async close() {
        await stop(child);
        rmSync(folder, { recursive: true });
      },
    };
  },
  goals: [{ of: 'ours', to: 'dnsperf', goal: 1 }],
};

const ngtcp2Requests = 100_000;

const h3: Contest = {
  name: 'http3-50x10',
  async prepare() {
    const { port, targets, close } = await startServer(small, { version: '3' });
    const config = { targets, tls, version: '3', connections: 50, maxStreams: 10 };
    // It has one connection.
    const asking = ['-q', '-n', String(ngtcp2Requests), '--exit-on-all-streams-close', '127.0.0.1', String(port)];
    return {
      contenders: {
        ours: () => ours('http', config, 'http.ok'),
        ngtcp2: () => perCpuSecond(ngtcp2Requests, 'gtlsclient', ...asking, `https://localhost:${port}/`),
      },
      close,
    };
  },
  goals: [{ of: 'ours', to: 'ngtcp2', goal: 0.4 }],
};

/** nginx in one process, with the same certificate and answer. */
const startNginx = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
  const [certificate, key, file] = ['cert.pem', 'key.pem', 'nginx.conf'].map((name) => join(folder, name));
  writeFileSync(certificate as string, identity.certificate);
  writeFileSync(key as string, identity.privateKey);
  const port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    file as string,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events { worker_connections 4096; }
     http { access_log off; keepalive_requests 1000000000; ${paths.join(' ')} server { listen 127.0.0.1:${port} ssl;
       ssl_certificate ${certificate}; ssl_certificate_key ${key}; ssl_ecdh_curve ${groups};
       location / { return 200 "hello world\\n"; } } }`,
  );
  const child = answer('nginx', '-c', file as string, '-e', join(folder, 'error.log'));
  await untilListening(port);
  const close = async () => {
    await stop(child);
    rmSync(folder, { recursive: true });
  };
  return { port, pid: child.pid, close };
};

const server: Contest = {
  name: 'https-server-keep-alive',
  async prepare() {
    const [mine, nginx] = [await startServer(small), await startNginx()];
    const served = async ({ port, pid }: { port: number; pid: number | undefined }): Promise<number> => {
      const before = processorSeconds(pid);
      const { stdout } = await execute('taskset', ['-c', '0', 'wrk', ...wrkArguments(port, 50)]);
      return Number(/(\d+) requests in/.exec(stdout)?.[1]) / (processorSeconds(pid) - before);
    };
    return {
      contenders: { ours: () => served(mine), nginx: () => served(nginx) },
      async close() {
        await mine.close();
        await nginx.close();
      },
    };
  },
  goals: [{ of: 'ours', to: 'nginx', goal: 1.5 }],
};

const [few, many] = [500, 4500];

/** Opened a second: slowly enough that few are in their handshake at once. */
const opens = 450;
/** After a burst of handshakes memory is given back within this time. */
const quietSec = 4;

/** Memory of both sides with connections that are opened one after the other, used once and then idle. */
const memoryWith = async (connections: number): Promise<{ client: number; server: number }> => {
  const { targets, pid, close } = await startServer(small);
  const paced = { sessionsPerSecond: opens, load: { rate: opens }, timeoutMs: 60_000 };
  const config = { role: 'client', targets, tls, connections, ...paced };
  const job = JSON.stringify({ engine: 'http', config, seconds: many / opens + quietSec });
  const running = execute('taskset', ['-c', '0', ...jobProgram, job]);
  const seen: { client: number; server: number }[] = [];
  const look = setInterval(() => {
    const { child } = running;
    if (child.exitCode === null) seen.push({ client: residentBytes(child.pid), server: residentBytes(pid) });
  }, 200);
  await running;
  clearInterval(look);
  await close();
  // In the last second all connections are open; the very end of the run closes them.
  return seen.at(-5) ?? { client: Number.NaN, server: Number.NaN };
};

const idle: Contest = {
  name: 'tls-idle-connection',
  better: 'lower',
  rounds: 1,
  async prepare() {
    let atServer = Number.NaN;
    const client = async () => {
      const [small, large] = [await memoryWith(few), await memoryWith(many)];
      atServer = (large.server - small.server) / (many - few);
      return (large.client - small.client) / (many - few);
    };
    return { contenders: { client, server: async () => atServer }, close: async () => {} };
  },
  goals: [
    { of: 'client', to: 30_000, goal: 1 },
    { of: 'server', to: 30_000, goal: 1 },
  ],
};

const contests = [fullHandshakes, resumedHandshakes, keepAlive, bulk, server, h2, h3, dot, idle];
ensureDebianPackages();
const wanted = process.argv.slice(2);
const rows: Row[] = [];
for (const contest of contests) {
  if (wanted.length > 0 && !wanted.some((part) => contest.name.includes(part))) continue;
  rows.push(...(await hold(contest)));
}
process.exitCode = report(rows) && rows.length > 0 ? 0 : 1;
