import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CaptureWriter, ethernetFrame, udpPacket } from '@rushhour/pcap';
import { createCable, type Side } from '../tests/engines/namespaces.ts';
import { type Contest, generate, jobProgram, seconds } from './dataplane-contest.ts';
import { createXdpCable } from './dataplane-packets.ts';

const packets = 1200;
/** Payload sizes of an IMIX: packets of 64, 594 and 1518 bytes, 7 to 4 to 1. */
const payloads = [18, 548, 18, 18, 548, 18, 1472, 18, 548, 18, 548, 18];

/** Packets of many flows from clients to one server. */
const imixCapture = (): Uint8Array => {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  for (let index = 0; index < packets; index++) {
    const ends = { src: `192.0.2.${1 + (index % 250)}`, dst: '198.51.100.1', srcPort: 1024 + index, dstPort: 9 };
    const payload = new Uint8Array(payloads[index % payloads.length] ?? 18).fill(index);
    writer.add({ bytes: ethernetFrame(udpPacket(payload, ends)), seconds: 1_700_000_000, nanoseconds: index * 1000 });
  }
  return writer.take();
};

/** Frames per second as tcpreplay reports them. */
const tcpreplay = async ({ namespace, device }: Side, file: string): Promise<number> => {
  const args = ['--topspeed', '--preload-pcap', '--loop=100000000', `--duration=${seconds}`, '-i', device, file];
  const stdout = await generate('ip', 'netns', 'exec', namespace, 'tcpreplay', ...args);
  const [, sent, length] = /Actual: (\d+) packets .* sent in ([\d.]+) seconds/.exec(stdout) ?? [];
  if (sent === undefined) throw new Error(`cannot parse the output of tcpreplay: ${stdout}`);
  return Number(sent) / Number(length);
};

/** The same capture with our engine: every address, MAC and checksum rewritten, all counters on. */
const ours = async ({ namespace }: Side, file: string, path: string): Promise<number> => {
  const config = {
    ...{ role: 'client', path, capture: file, loops: 0, speed: { mode: 'max' }, nextHopMac: '02:00:00:00:00:99' },
    ...{ sources: { networks: ['10.99.1.0/24'] }, targets: [{ host: '10.99.0.2', port: 9 }] },
  };
  const job = JSON.stringify({ engine: 'pcap-replay', config, seconds });
  const stdout = await generate('ip', 'netns', 'exec', namespace, ...jobProgram, job);
  const counted = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
  return counted['pcap-replay.sent'] ?? 0;
};

const contest: Contest = {
  name: 'capture-replay',
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
    const file = join(folder, 'imix.pcap');
    writeFileSync(file, imixCapture());
    const [plain, xdp] = [createCable(), await createXdpCable()];
    return {
      contenders: {
        tcpreplay: () => tcpreplay(plain.left, file),
        sendmmsg: () => ours(plain.left, file, 'af_packet'),
        afXdp: () => ours(plain.left, file, 'af_xdp'),
        liveFrames: () => ours(xdp.left, file, 'xdp'),
      },
      async close() {
        for (const cable of [plain, xdp]) cable.remove();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  goals: [
    { of: 'afXdp', to: 'tcpreplay', goal: 1.7 },
    { of: 'liveFrames', to: 'tcpreplay', goal: 2.4 },
  ],
};

/** Captures against tcpreplay. */
export const replayContests: readonly Contest[] = [contest];
