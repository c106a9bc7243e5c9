import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { analyzeCapture } from '@rushhour/pcap';
import { freePort } from '../../process/free-port.ts';
import { execute, requireProgram, startNginx, stopProcess } from '../programs.ts';

export interface Recording {
  readonly folder: string;
  readonly file: string;
  readonly port: number;
}

/** Captures the traffic of a loopback port with tcpdump while `work` runs; returns the file. */
export const record = async (port: number, happen: () => Promise<unknown>): Promise<Recording> => {
  requireProgram('tcpdump');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-record-'));
  const file = join(folder, 'capture.pcap');
  const dump = spawn('tcpdump', ['-i', 'lo', '-U', '-B', '65536', '-s', '0', '-w', file, `port ${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  dump.stderr.on('data', (text) => (stderr += text));
  while (!stderr.includes('listening on')) await Promise.race([once(dump.stderr, 'data'), sleep(100)]);
  await happen();
  const whole = await untilMarked(file, port);
  await stopProcess(dump);
  writeFileSync(file, whole);
  return { folder, file, port };
};

const marker = Buffer.from('end of the recording');
const [fileHeadBytes, recordHeadBytes] = [24, 16];

/** tcpdump writes with a delay: a marker packet shows that everything before it is in the file. The marker is removed. */
const untilMarked = async (file: string, port: number): Promise<Buffer> => {
  const socket = createSocket('udp4');
  try {
    for (;;) {
      socket.send(marker, port, '127.0.0.1');
      await sleep(100);
      const bytes = readFileSync(file);
      const end = bytes.indexOf(marker);
      if (end < 0) continue;
      let at = fileHeadBytes;
      for (let next = at; next < end; next += recordHeadBytes + bytes.readUInt32LE(next + 8)) at = next;
      return bytes.subarray(0, at);
    }
  } finally {
    socket.close();
  }
};

/** curl against a shop on nginx: two requests on one connection, a form on another. */
export const recordShop = async (): Promise<Recording> => {
  requireProgram('curl');
  const port = await freePort();
  const nginx = await startNginx(
    port,
    `location /basket { add_header Set-Cookie "sid=0001"; return 200 "basket of nobody\\n"; }
     location /login { return 200 "welcome\\n"; }
     location / { return 200 "front page\\n"; }`,
  );
  const at = `http://127.0.0.1:${port}`;
  try {
    return await record(port, async () => {
      await execute('curl', ['-s', `${at}/`, `${at}/basket`]);
      await execute('curl', ['-s', '-d', 'user=anna&password=secret', `${at}/login`]);
    });
  } finally {
    await nginx.stop();
  }
};

/** dig queries to dnsmasq. Its port is below the ephemeral range, which identifies the server side. */
export const recordNames = async (): Promise<Recording> => {
  for (const program of ['dnsmasq', 'dig']) requireProgram(program);
  const port = await freePort();
  const args = [
    '-k',
    '-p',
    String(port),
    '--no-resolv',
    '--no-hosts',
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
  ];
  const server = spawn('dnsmasq', [...args, '--address=/shop.test/10.1.2.3', '--user=root'], { stdio: 'ignore' });
  const ask = (name: string) =>
    execute('dig', ['@127.0.0.1', '-p', String(port), '+tries=1', '+time=5', '+short', name]);
  try {
    for (let tries = 0; tries < 50; tries++) {
      const { stdout } = await ask('shop.test').catch(() => ({ stdout: '' }));
      if (stdout.includes('10.1.2.3')) break;
      await sleep(100);
    }
    return await record(port, () => ask('shop.test'));
  } finally {
    await stopProcess(server);
  }
};

/** Steps of a session as text, one character per byte. */
export const stepsOf = async (file: string, session: number): Promise<string[]> => {
  const analysis = await analyzeCapture(readFileSync(file), { keepPayload: true });
  return analysis.steps(session, { encoding: 'text' }).map(({ data }) => data);
};

export const forget = ({ folder }: Recording): void => rmSync(folder, { recursive: true, force: true });

/** A file next to the capture. */
export const beside = ({ folder }: Recording, name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
