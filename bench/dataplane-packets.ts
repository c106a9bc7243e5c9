import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CaptureWriter, ethernetFrame, udpPacket } from '@rushhour/pcap';
import { type Cable, createCable, deviceCounter, type Side } from '../tests/engines/namespaces.ts';
import {
  answer,
  type Contest,
  generate,
  generateJob,
  jobProgram,
  seconds,
  stop,
  warmUpSec,
} from './dataplane-contest.ts';

const scriptOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const inside = ({ namespace }: Side, ...args: string[]) => ['ip', 'netns', 'exec', namespace, ...args] as const;
/** An address of no host: arriving frames are inspected and dropped. */
const nobody = '02:00:00:00:00:99';
const port = 15_009;

/** A cable with an XDP program at its far end: only then does the near end accept XDP frames. */
export const createXdpCable = async (): Promise<Cable> => {
  const cable = createCable();
  const child = answer(
    ...inside(cable.right, process.execPath, scriptOf('./dataplane-far-end.ts'), cable.right.device),
  );
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return {
    ...cable,
    remove() {
      child.stdin?.end();
      cable.remove();
    },
  };
};

/** Runs our engine in a namespace; returns a metric per second. */
const jobIn = async (side: Side, config: object, metric: string): Promise<number> => {
  const job = JSON.stringify({ engine: 'stream', config, seconds });
  const stdout = await generate(...inside(side, ...jobProgram, job));
  const counted = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
  return counted[metric] ?? 0;
};

const clientOf = (more: object) => ({
  role: 'client',
  targets: [{ host: '10.99.0.2', port }],
  nextHopMac: nobody,
  ...more,
});

const changing = [
  { field: 'sourceAddress', count: 65_536 },
  { field: 'sourcePort', count: 30_000 },
];
const smallFrames = ({ left }: Cable, framePath: string) =>
  jobIn(left, clientOf({ framePath, modifiers: changing }), 'stream.sent');

/** The same headers with as many changing fields, and a counter instead of our signature. */
const trafgenFrames = `{
  eth(da=${nobody}, sa=02:00:00:00:00:01)
  ipv4(id=drnd(), ttl=64, sa=10.99.0.1, da=10.99.0.2)
  udp(sp=dinc(1024, 31024), dp=${port})
  seqinc(0, 1) fill(0, 17)
}
`;

/** Frames per second of trafgen, counted at the receiver. */
const trafgen = async ({ left, right }: Cable, file: string): Promise<number> => {
  const args = ['trafgen', '--in', file, '--out', left.device, '--cpus', '1'];
  // Its children end only when all of them get the signal.
  const running = generate(...inside(left, 'timeout', '--signal=INT', '--kill-after=1', `${seconds + 2}`, ...args));
  const ended = running.catch(() => {});
  await sleep(700);
  const [before, begun] = [deviceCounter(right, 'rx_packets'), performance.now()];
  await sleep(seconds * 1000);
  const perSecond = ((deviceCounter(right, 'rx_packets') - before) * 1000) / (performance.now() - begun);
  await ended;
  return perSecond;
};

const frames: Contest = {
  name: 'frames-64',
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
    const file = join(folder, 'frames.cfg');
    writeFileSync(file, trafgenFrames);
    const [plain, xdp] = [createCable(), await createXdpCable()];
    return {
      contenders: {
        trafgen: () => trafgen(plain, file),
        sendmmsg: () => smallFrames(plain, 'af_packet'),
        afXdp: () => smallFrames(plain, 'af_xdp'),
        liveFrames: () => smallFrames(xdp, 'xdp'),
      },
      async close() {
        for (const cable of [plain, xdp]) cable.remove();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  goals: [
    { of: 'sendmmsg', to: 'trafgen', goal: 1.15 },
    { of: 'afXdp', to: 'trafgen', goal: 1.6 },
    { of: 'liveFrames', to: 'trafgen', goal: 2.7 },
  ],
};

interface Received {
  readonly perSecond: number;
  /** Missing sequence numbers, and frames dropped by a full ring. */
  readonly missed: number;
}

/** Frames with sequence numbers at top speed, and the count at the far end. */
const receive = async ({ left, right }: Cable): Promise<Received> => {
  const config = { role: 'server', listen: [{ host: '10.99.0.2', port }] };
  const job = JSON.stringify({ engine: 'stream', config, seconds: 86_400 });
  const server = answer(...inside(right, ...jobProgram, job));
  let stdout = '';
  server.stdout?.on('data', (bytes) => {
    stdout += bytes;
  });
  await once(server.stdout as NodeJS.ReadableStream, 'data');
  const perSecond = await jobIn(left, clientOf({ framePath: 'xdp' }), 'stream.sent');
  await sleep(200);
  server.stdin?.end();
  await once(server, 'exit');
  const counted = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
  return { perSecond, missed: (counted['stream.lost'] ?? 0) + (counted['stream.bufferDrops'] ?? 0) };
};

const reception: Contest = {
  name: 'receive-mpps',
  async prepare() {
    const cable = await createXdpCable();
    const withoutLoss = async () => {
      const { perSecond, missed } = await receive(cable);
      if (missed > 0) console.log(`receive-mpps: of ${Math.round(perSecond)} frames a second some were missed`);
      return missed > 0 ? 0 : perSecond;
    };
    return { contenders: { ours: withoutLoss }, close: async () => cable.remove() };
  },
  goals: [{ of: 'ours', to: 1e6, goal: 1.2 }],
};

const echo: Contest = {
  name: 'icmp-echo',
  async prepare() {
    const ping = async () => {
      const stdout = await generate('ping', '-f', '-q', '-w', String(seconds), '127.0.0.1');
      const [, received, ms] = /(\d+) received.*time (\d+)ms/.exec(stdout) ?? [];
      return (Number(received) * 1000) / Number(ms);
    };
    const ours = () => generateJob('icmp', { targets: [{ host: '127.0.0.1', port: 1 }], window: 192 }, 'icmp.received');
    return { contenders: { ours, ping }, close: async () => {} };
  },
  goals: [{ of: 'ours', to: 'ping', goal: 1.3 }],
};

/** Arrival times in nanoseconds, by the kernel at the far end. */
const arrivalsAt = async ({ namespace, device }: Side, send: () => Promise<unknown>): Promise<number[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
  const file = join(folder, 'arrived.pcap');
  const options = ['-i', device, '-Q', 'in', '--time-stamp-precision=nano', '-B', '200000', '-s', '64', '-w', file];
  const child = answer('ip', 'netns', 'exec', namespace, 'tcpdump', ...options, '-Z', 'root', 'udp');
  try {
    await sleep(700);
    await send();
    await sleep(300);
    await stop(child);
    const bytes = readFileSync(file);
    const times: number[] = [];
    for (let at = 24; at + 16 <= bytes.length; at += 16 + bytes.readUInt32LE(at + 8))
      times.push(bytes.readUInt32LE(at) * 1e9 + bytes.readUInt32LE(at + 4));
    return times;
  } finally {
    await stop(child);
    rmSync(folder, { recursive: true, force: true });
  }
};

/** The mean distance of frames: the slope of a linear fit over all arrivals. */
const meanDistance = (times: readonly number[]): number => {
  const middle = (times.length - 1) / 2;
  let [sum, squares] = [0, 0];
  for (const [index, time] of times.entries()) {
    sum += (index - middle) * (time - (times[0] ?? 0));
    squares += (index - middle) ** 2;
  }
  return sum / squares;
};

/** Of the steady part: the rate error in percent, and the 99th percentile of distance errors. */
const punctualityOf = (times: readonly number[], rate: number): { offPct: number; p99Ns: number } => {
  const steady = times.slice(Math.floor(times.length / 4));
  const errors = steady.slice(1).map((time, index) => Math.abs(time - (steady[index] ?? 0) - 1e9 / rate));
  errors.sort((a, b) => a - b);
  return {
    offPct: Math.abs(1e9 / meanDistance(steady) / rate - 1) * 100,
    p99Ns: errors[Math.floor(errors.length * 0.99)] ?? Number.NaN,
  };
};

const smallCapture = (): Uint8Array => {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  const ends = { src: '10.99.0.1', dst: '10.99.0.2', srcPort: 1024, dstPort: port };
  const bytes = ethernetFrame(udpPacket(new Uint8Array(18), ends));
  for (let index = 0; index < 1000; index++) writer.add({ bytes, seconds: 1_700_000_000, nanoseconds: 0 });
  return writer.take();
};

/** The accuracy of a rate; `what` selects the compared value. */
const punctuality = (rate: number, what: 'offPct' | 'p99Ns'): Contest => ({
  name: `rate-${rate}-${what}`,
  better: 'lower',
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
    const file = join(folder, 'small.pcap');
    writeFileSync(file, smallCapture());
    const cable = await createXdpCable();
    const { left, right } = cable;
    const measure = async (send: () => Promise<unknown>) => punctualityOf(await arrivalsAt(right, send), rate)[what];
    const options = [`--pps=${rate}`, '--preload-pcap', '--loop=100000000', `--duration=${seconds + warmUpSec}`];
    const tcpreplay = () => generate(...inside(left, 'tcpreplay', ...options, '-i', left.device, file));
    const ours = () => jobIn(left, clientOf({ load: { rate } }), 'stream.sent');
    return {
      contenders: { ours: () => measure(ours), ...(what === 'p99Ns' && { tcpreplay: () => measure(tcpreplay) }) },
      async close() {
        cable.remove();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  goals: [what === 'offPct' ? { of: 'ours', to: 1, goal: 0.01 } : { of: 'ours', to: 'tcpreplay', goal: 1 }],
});

/** Frames against trafgen, echoes against ping, rates against tcpreplay, and the receive rate. */
export const packetContests: readonly Contest[] = [
  frames,
  reception,
  echo,
  ...[10_000, 100_000].flatMap((rate) => [punctuality(rate, 'offPct'), punctuality(rate, 'p99Ns')]),
];
