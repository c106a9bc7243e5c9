// Runs alone in a network namespace: the kernel's TCP on one side of a TAP device, emulated hosts on the other.
// Argument: JSON of the scenario. Prints one line of JSON.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloseCause, TcpConnection, TcpEvents, TcpSettings } from '@rushhour/wire';
import { defaultTcpSettings, tcpState } from '@rushhour/wire';
import { labKey, startTapGroup } from '../../packages/wire/src/testing/tap-group.ts';

interface Scenario {
  readonly bytes: number;
  readonly lossPercent: number;
  readonly shortConnections: number;
  readonly isV6: boolean;
  readonly capture?: string;
  readonly settings?: Partial<TcpSettings>;
}

const scenario = JSON.parse(process.argv[2] ?? '{}') as Scenario;
const kernel = scenario.isV6 ? 'fd09::1' : '10.9.0.1';
const hostAddress = (index: number) => (scenario.isV6 ? `fd09::${(index + 2).toString(16)}` : `10.9.0.${index + 2}`);
const settings: TcpSettings = { ...defaultTcpSettings, ...scenario.settings };

// Not a power of two, so that a segment out of place does not look right.
const patternLength = 65_521;
const pattern = Buffer.from(
  Array.from({ length: patternLength * 2 }, (_, i) => ((i % patternLength) * 31 + ((i % patternLength) >> 7)) & 255),
);

/** Compares what arrives with the pattern. */
class Checker {
  bytes = 0;
  differences = 0;

  take(data: Uint8Array): void {
    for (let at = 0; at < data.length; ) {
      const from = this.bytes % patternLength;
      const length = Math.min(data.length - at, patternLength);
      if (Buffer.compare(data.subarray(at, at + length), pattern.subarray(from, from + length)) !== 0)
        this.differences++;
      this.bytes += length;
      at += length;
    }
  }
}

const execute = (program: string, args: string[], input = '') => execFileSync(program, args, { input });
const start = (program: string, ...args: string[]) => spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
const ip = (...args: string[]) => execute('ip', args);
const { group, close } = startTapGroup('tap0', {});
ip('link', 'set', 'lo', 'up');
ip('addr', 'add', '10.9.0.1/16', 'dev', 'tap0');
ip('addr', 'add', 'fd09::1/64', 'dev', 'tap0', 'nodad');
ip('link', 'set', 'tap0', 'up');
if (scenario.lossPercent > 0) {
  const drop = `numgen random mod 1000 < ${scenario.lossPercent * 10} drop`;
  const rules = ['input', 'output'].map(
    (hook) => `chain ${hook} { type filter hook ${hook} priority 0;\nmeta l4proto tcp ${drop}\n}`,
  );
  execute('nft', ['-f', '-'], `table inet lab {\n${rules.join('\n')}\n}\n`);
}
const tcpdump =
  scenario.capture === undefined
    ? undefined
    : start('tcpdump', '-i', 'tap0', '-s', '200', '-U', '-B', '65536', '-w', scenario.capture, 'not udp');
await sleep(300);

const { tcp } = group;
const silent: TcpEvents = { onOpen() {}, onData() {}, onSent() {}, onEnd() {}, onClose() {} };

/** Sends the pattern on a connection of ours, then closes it. */
const pusher = (total: number): Pick<TcpEvents, 'onOpen' | 'onSent'> => {
  let left = total;
  const push = (c: TcpConnection) => {
    const from = (total - left) % patternLength;
    const length = Math.min(left, patternLength);
    if (length > 0) tcp.send(c, pattern, from, from + length);
    left -= length;
    if (left === 0) tcp.close(c);
  };
  return { onOpen: push, onSent: push };
};

const open = (host: number, port: number, events: TcpEvents): void => {
  if (tcp.connect(labKey(host, kernel, port), { settings, events, path: host }) === undefined)
    throw new Error('no connection');
};

const writePattern = async (socket: Socket, total: number) => {
  for (let done = 0; done < total; ) {
    const from = done % patternLength;
    const length = Math.min(total - done, patternLength);
    if (!socket.write(pattern.subarray(from, from + length))) await once(socket, 'drain');
    done += length;
  }
  socket.end();
};

/** Our client sends to a server of the kernel. */
const upload = async () => {
  const checker = new Checker();
  const server = createServer((socket) => {
    socket.on('data', (data) => checker.take(data));
    socket.on('end', () => socket.end());
  }).listen(5001, '::');
  await once(server, 'listening');
  const began = performance.now();
  const end = await new Promise<{ cause: CloseCause | undefined; retransmits: number }>((resolve) =>
    open(0, 5001, {
      ...silent,
      ...pusher(scenario.bytes),
      onClose: (c, cause) => resolve({ cause, retransmits: c.retransmits }),
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  server.close();
  return { bytes: checker.bytes, differences: checker.differences, seconds, ...end };
};

/** Our client receives from a server of the kernel. */
const download = async () => {
  const checker = new Checker();
  const server = createServer((socket) => void writePattern(socket, scenario.bytes)).listen(5002, '::');
  await once(server, 'listening');
  const began = performance.now();
  const cause = await new Promise((resolve) =>
    open(1, 5002, {
      ...silent,
      onData: (_c, bytes, start, end) => checker.take(bytes.subarray(start, end)),
      onEnd: (c) => tcp.close(c),
      onClose: (_c, why) => resolve(why),
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  server.close();
  return { bytes: checker.bytes, differences: checker.differences, seconds, cause };
};

/** A client of the kernel talks to our server, which echoes. */
const echo = async () => {
  const checker = new Checker();
  tcp.listen(5003, {
    settings,
    backlog: 128,
    accept: () => ({
      ...silent,
      onData: (c, bytes, start, end) => {
        tcp.sendCopy(c, bytes.slice(start, end));
        if (c.queuedBytes >= settings.sendBuffer) tcp.pause(c);
      },
      onSent: (c) => tcp.resume(c),
      onEnd: (c) => tcp.close(c),
    }),
  });
  const socket = connect({ host: hostAddress(3), port: 5003 });
  socket.on('data', (data) => checker.take(data));
  void writePattern(socket, scenario.bytes);
  await once(socket, 'close');
  return { bytes: checker.bytes, differences: checker.differences };
};

/** Many connections of one request each, from many hosts. */
const short = async () => {
  const server = createServer((socket) => socket.on('data', () => socket.end('hello\n')).on('error', () => {})).listen({
    port: 5004,
    host: '::',
    backlog: 1024,
  });
  await once(server, 'listening');
  const causes: Record<string, number> = {};
  let received = 0;
  let left = scenario.shortConnections;
  let running = 0;
  const request = Buffer.from('GET\n');
  await new Promise<void>((resolve) => {
    const next = () => {
      while (running < 64 && left > 0) {
        running++;
        open(left-- % 200, 5004, events);
      }
      if (running === 0) resolve();
    };
    const events: TcpEvents = {
      ...silent,
      onOpen: (c) => tcp.send(c, request),
      onData: (_c, _bytes, start, end) => {
        received += end - start;
      },
      onEnd: (c) => tcp.close(c),
      onClose: (_c, cause) => {
        causes[cause ?? 'orderly'] = (causes[cause ?? 'orderly'] ?? 0) + 1;
        running--;
        setImmediate(next);
      },
    };
    next();
  });
  server.close();
  return { causes, received };
};

const failures = async () => {
  const causeOf = (host: number, remote: string, port: number) =>
    new Promise<string | undefined>((resolve) => {
      const events = { ...silent, onClose: (_c: TcpConnection, cause: CloseCause | undefined) => resolve(cause) };
      if (tcp.connect(labKey(host, remote, port), { settings, events, path: host }) === undefined) resolve('none');
    });
  const refused = new Promise<string>((resolve) =>
    connect({ host: hostAddress(5), port: 9 }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? '')),
  );
  return {
    closedPort: await causeOf(1, kernel, 9),
    noNeighbour: await causeOf(1, scenario.isV6 ? 'fd09::dead' : '10.9.255.254', 9),
    ourClosedPort: await refused,
  };
};

const ping = async () => {
  const child = start('ping', '-c', '5', '-i', '0.05', '-s', '3000', hostAddress(200));
  let text = '';
  child.stdout.on('data', (data) => (text += data));
  await once(child, 'close');
  return Number(/(\d+) received/.exec(text)?.[1]);
};

const results = {
  ping: await ping(),
  upload: await upload(),
  download: await download(),
  echo: await echo(),
  short: await short(),
  failures: await failures(),
};
await sleep(200);
tcpdump?.kill('SIGINT');
if (tcpdump !== undefined) await once(tcpdump, 'exit');
const open1 = [...tcp.connections()].filter(({ state }) => state !== tcpState.closed).length;
console.log(JSON.stringify({ ...results, open: open1, memory: tcp.memoryInUse, counters: tcp.counters }));
close();
process.exit(0);
