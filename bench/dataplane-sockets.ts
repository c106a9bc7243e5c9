import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../tests/process/free-port.ts';
import {
  answer,
  answerJob,
  type Contest,
  generate,
  generateJob,
  seconds,
  stop,
  untilListening,
} from './dataplane-contest.ts';

const localhost = (port: number) => [{ host: '127.0.0.1', port }];
const smallAnswer = { responses: [{ body: { type: 'text', data: 'hello world\n!' } }] };

const wrk = async (port: number, connections: number, ...more: string[]): Promise<number> => {
  const text = await generate('wrk', '-t1', `-c${connections}`, `-d${seconds}`, ...more, `http://127.0.0.1:${port}/`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
};

const autocannon = async (port: number, connections: number): Promise<number> => {
  const script = createRequire(import.meta.url).resolve('autocannon');
  const options = ['-c', String(connections), '-d', String(seconds), '--json', '--no-progress'];
  const text = await generate(process.execPath, script, ...options, `http://127.0.0.1:${port}/`);
  return (JSON.parse(text) as { requests: { average: number } }).requests.average;
};

const startResponder = async () => {
  const port = await freePort();
  const child = await answerJob('http', {
    listen: [{ host: '0.0.0.0', port }],
    dataPath: 'io_uring',
    ...smallAnswer,
  });
  return { port, close: () => stop(child) };
};

const keepAlive: Contest = {
  name: 'http-keep-alive',
  async prepare() {
    const { port, close } = await startResponder();
    const ours = (dataPath: string) =>
      generateJob('http', { targets: localhost(port), connections: 50, dataPath }, 'http.ok');
    return {
      contenders: {
        io_uring: () => ours('io_uring'),
        epoll: () => ours('epoll'),
        wrk: () => wrk(port, 50),
        autocannon: () => autocannon(port, 50),
      },
      close,
    };
  },
  goals: [
    { of: 'io_uring', to: 'wrk', goal: 1.3 },
    { of: 'epoll', to: 'wrk', goal: 1.05 },
    { of: 'io_uring', to: 'autocannon', goal: 8 },
  ],
};

const newConnections: Contest = {
  name: 'http-new-connections',
  async prepare() {
    const { port, close } = await startResponder();
    const config = {
      targets: localhost(port),
      connections: 256,
      keepAlive: { enabled: false },
      sources: { ranges: ['10.98.0.1-10.98.78.32'] },
    };
    return {
      contenders: {
        '20000-addresses': () => generateJob('http', config, 'http.ok'),
        wrk: () => wrk(port, 256, '-H', 'Connection: close'),
      },
      close,
    };
  },
  goals: [{ of: '20000-addresses', to: 'wrk', goal: 1.05 }],
};

const startNginx = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(join(folder, 'index.html'), 'hello world\n!');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log; user root;
     events { worker_connections 4096; }
     http { access_log off; keepalive_requests 1000000000; sendfile on; open_file_cache max=10;
       ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
       server { listen 127.0.0.1:${port}; root ${folder}; } }`,
  );
  const child = answer('nginx', '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log'));
  await untilListening(port);
  const close = async () => {
    await stop(child);
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, close };
};

const responder: Contest = {
  name: 'http-responder',
  async prepare() {
    const [ours, nginx] = [await startResponder(), await startNginx()];
    return {
      contenders: { ours: () => wrk(ours.port, 50), nginx: () => wrk(nginx.port, 50) },
      async close() {
        await ours.close();
        await nginx.close();
      },
    };
  },
  goals: [{ of: 'ours', to: 'nginx', goal: 1.8 }],
};

const dns: Contest = {
  name: 'dns-udp',
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
    const queries = join(folder, 'queries');
    writeFileSync(queries, 'host1.example.com A\n');
    const port = await freePort();
    const answers = [{ name: 'host1.example.com', type: 'A', data: '192.0.2.1' }];
    const server = await answerJob('dns', { listen: [{ host: '127.0.0.1', port, transport: 'udp' }], answers });
    const config = { targets: localhost(port), names: ['host1.example.com'], sockets: 1, concurrency: 100 };
    const dnsperf = async () => {
      const options = ['-s', '127.0.0.1', '-p', String(port), '-d', queries, '-l', String(seconds), '-q', '100'];
      const text = await generate('dnsperf', ...options);
      return Number(/Queries per second:\s+([\d.]+)/.exec(text)?.[1]);
    };
    return {
      contenders: { ours: () => generateJob('dns', config, 'dns.answers'), dnsperf },
      async close() {
        await stop(server);
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  goals: [{ of: 'ours', to: 'dnsperf', goal: 2 }],
};

const bulk: Contest = {
  name: 'tcp-bulk',
  async prepare() {
    const port = await freePort();
    const iperfPort = await freePort();
    const sink = await answerJob('tcp', { listen: localhost(port) });
    const peer = answer('iperf3', '-s', '-B', '127.0.0.1', '-p', String(iperfPort));
    await untilListening(iperfPort);
    const iperf3 = async () => {
      const text = await generate('iperf3', '-c', '127.0.0.1', '-p', String(iperfPort), '-t', String(seconds), '-J');
      return (JSON.parse(text) as { end: { sum_sent: { bits_per_second: number } } }).end.sum_sent.bits_per_second / 8;
    };
    const config = { targets: localhost(port), connections: 1, mode: 'send' };
    return {
      contenders: { ours: () => generateJob('tcp', config, 'tcp.txBytes'), iperf3 },
      async close() {
        await stop(sink);
        await stop(peer);
      },
    };
  },
  goals: [{ of: 'ours', to: 'iperf3', goal: 0.95 }],
};

export const socketContests: readonly Contest[] = [keepAlive, newConnections, responder, dns, bulk];
