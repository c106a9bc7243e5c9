// Run inside a network namespace of its own: makes real traffic on its loopback and lets tcpdump record it.
// Usage: unshare -n node make-traffic.ts FOLDER
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runTool } from './run-tool.ts';

const folder = process.argv[2] ?? '.';
const DNS_ADDRESS = '127.0.0.9';

const answer: RequestListener = (request, response) => {
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  request.on('end', () => response.end(`${received} `.repeat(request.url === '/long' ? 30_000 : 20)));
};

// A ring of a thousand frames, so that a busy machine loses none of them.
const RECORD = ['-i', 'lo', '-U', '--immediate-mode', '-s', '66000', '-B', '65536', '-c', '20000', '-Z', 'root', '-w'];

function startRecording(): ChildProcess {
  const file = join(folder, 'traffic.pcap');
  return spawn('tcpdump', [...RECORD, file], { stdio: ['ignore', 'ignore', 'pipe'], timeout: 100_000 });
}

/** Ends the recording and refuses one with holes in it. */
async function stopRecording(recording: ChildProcess): Promise<void> {
  let report = '';
  recording.stderr?.on('data', (chunk: Buffer) => {
    report += chunk.toString();
  });
  recording.kill('SIGINT');
  await once(recording, 'close');
  if (!/^0 packets dropped by kernel/m.test(report)) throw new Error(`tcpdump has lost packets: ${report}`);
}

async function talkHttp(server: Server, address: string, scheme: string): Promise<void> {
  const port = (server.address() as { port: number }).port;
  const host = address.includes(':') ? `[${address}]` : address;
  const base = `${scheme}://www.traffic.test:${port}`;
  const common = ['-sk', '--max-time', '60', '--connect-to', `::${host}:${port}`];
  await runTool('curl', [...common, `${base}/`]);
  await runTool('curl', [...common, `${base}/long`, `${base}/short`]);
  await runTool('curl', [...common, '--data-binary', '@-', `${base}/post`], 'b'.repeat(200_000));
}

async function certificate(): Promise<{ key: Buffer; cert: Buffer }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=www.traffic.test', '-days', '2', '-keyout', key, '-out', cert];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await runTool('openssl', ['req', ...kind, ...subject]);
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** Answers every question with one address. */
async function talkDns(): Promise<void> {
  const server = createSocket('udp4', (query, from) => {
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
    const reply = Buffer.concat([query.subarray(0, 12), query.subarray(12, query.indexOf(0, 12) + 5), record]);
    reply.writeUInt16BE(0x8180, 2);
    reply.writeUInt16BE(1, 6);
    reply.writeUInt32BE(0, 8);
    server.send(reply, from.port, from.address);
  });
  server.bind(53, DNS_ADDRESS);
  await once(server, 'listening');
  const resolver = new dns.Resolver({ timeout: 1000, tries: 2 });
  resolver.setServers([`${DNS_ADDRESS}:53`]);
  for (const name of ['a.traffic.test', 'b.traffic.test', 'c.traffic.test']) await resolver.resolve4(name);
  server.close();
}

/** Datagrams larger than the MTU, there and back. */
async function talkInFragments(type: 'udp4' | 'udp6', address: string): Promise<void> {
  const echo = createSocket(type, (message, from) => echo.send(message, from.port, from.address));
  echo.bind(0, address);
  await once(echo, 'listening');
  const client = createSocket(type);
  for (const size of [10, 1472, 4000, 20_000]) {
    client.send(Buffer.alloc(size, size & 255), echo.address().port, address);
    await once(client, 'message');
  }
  client.close();
  echo.close();
}

/** Bounded on every side: the program ends even when a peer never answers. */
async function main(): Promise<void> {
  const guard = setTimeout(() => process.exit(1), 15_000);
  await runTool('ip', ['link', 'set', 'lo', 'up', 'mtu', '1500']);
  const [web, web6, secure] = [
    createServer(answer),
    createServer(answer),
    createTlsServer(await certificate(), answer),
  ];
  web.listen(0, '127.0.0.1');
  web6.listen(0, '::1');
  secure.listen(0, '127.0.0.1');
  await Promise.all([web, web6, secure].map((server) => once(server, 'listening')));
  const recording = startRecording();
  await once(recording.stderr as NodeJS.EventEmitter, 'data');
  await talkHttp(web, '127.0.0.1', 'http');
  await talkHttp(web6, '::1', 'http');
  await talkHttp(secure, '127.0.0.1', 'https');
  await talkDns();
  await talkInFragments('udp4', '127.0.0.1');
  await talkInFragments('udp6', '::1');
  for (const server of [web, web6, secure]) server.closeAllConnections();
  await wait(300);
  await stopRecording(recording);
  for (const server of [web, web6, secure]) server.close();
  clearTimeout(guard);
}

await main();
