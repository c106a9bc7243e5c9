import { describe, expect, it } from 'vitest';
import { ACK } from '../dissect/frame.ts';
import { packetRows } from '../dissect/packet-rows.ts';
import { PcapError } from '../pcap-error.ts';
import { captureOf, captureOfFrames, chunksOf, text } from '../testing/build-capture.ts';
import { helloRecords, letters, vector16 } from '../testing/build-hello.ts';
import { mutate, Random } from '../testing/mutate.ts';
import { TcpScript } from '../testing/tcp-script.ts';
import { ethernetFrame, ipPacket, tcpPacket, udpDatagram, udpPacket } from '../write/frame-builder.ts';
import { trimCapture } from '../write/trim.ts';
import { analyzeCapture } from './analyze.ts';

const CASES = Number(process.env['PCAP_FUZZ_CASES'] ?? 4000);
const SEED = Number(process.env['PCAP_FUZZ_SEED'] ?? 1);
// Processor time, so that a busy machine is not taken for a slow reader; a small capture needs a few milliseconds.
const SLOWEST_MS = 500;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const ENDS = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 5000, dstPort: 53 };
const ENDS6 = { src: '2001:db8::1', dst: '2001:db8::2', srcPort: 5000, dstPort: 443 };

/** A bit of everything that the reader knows. */
function seedFrames(): Uint8Array[] {
  const hello = helloRecords({
    ciphers: [0x1301, 4],
    extensions: [[0, vector16([0, ...vector16(letters('a.test'))])]],
  });
  const datagram = udpDatagram(new Uint8Array(300), ENDS6);
  const part = (start: number, end: number, moreFragments: boolean) =>
    ipPacket(datagram.subarray(start, end), { ...ENDS6, protocol: 17, id: 3, fragmentOffset: start, moreFragments });
  const packets = [
    ...new TcpScript().open().client('GET / HTTP/1.1\r\nHost: a\r\n\r\n').server('HTTP/1.1 200 OK\r\n\r\n').close()
      .packets,
    ...new TcpScript({ clientPort: 2 }).open().client(hello).repeat().server('x').client('y').swap().reset().packets,
    ...new TcpScript({ clientPort: 3 }).open().client('one').lose().client('two').server('three').packets,
    udpPacket(Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1]), ENDS),
    part(0, 160, true),
    part(160, 308, false),
    ipPacket(Uint8Array.from([17, 0, 1, 4, 0, 0, 0, 0, ...udpDatagram(text('q'), ENDS6)]), { ...ENDS6, protocol: 0 }),
    ipPacket(Uint8Array.from([8, 0, 0, 0, 0, 0, 0, 0]), { ...ENDS, protocol: 1 }),
  ];
  const frames = packets.map((packet, index) => ethernetFrame(packet, index % 3 === 0 ? { vlans: [index] } : {}));
  return [...frames, ethernetFrame(new Uint8Array(40), { etherType: 0x0806 })];
}

const FORMATS = ['pcap', 'pcap-ns', 'pcapng'] as const;
const LINK_TYPES = [1, 1, 1, 1, 0, 9, 12, 50, 108, 113, 229, 276];

/** Damage to the file as a whole, or to some of the frames inside a sound file. */
function damaged(frames: readonly Uint8Array[], random: Random): Uint8Array {
  const format = FORMATS[random.below(FORMATS.length)] ?? 'pcap';
  const linkType = LINK_TYPES[random.below(LINK_TYPES.length)] ?? 1;
  if (random.below(2) === 0) return mutate(captureOfFrames(frames, { format }, linkType), random);
  const hit = frames.map((frame) => (random.below(4) === 0 ? mutate(frame, random) : frame));
  return captureOfFrames(hit, { format, snapLen: 40 + random.below(400) }, linkType);
}

/** Everything a user can ask of a capture. */
function uses(capture: Uint8Array, random: Random): (() => Promise<unknown>)[] {
  const size = 1 + random.below(capture.length + 1);
  const options = { keepPayload: true, hashes: true, fillGaps: random.below(2) === 1, maxKeptBytes: 1_000_000 };
  const window = { offset: random.below(10), length: random.below(50) };
  const chosen = random.below(2) === 1 ? { ...options, window } : options;
  const rows = { limit: 20, start: random.below(10) };
  const trim = { anonymise: { ips: true, macs: true }, dropRetransmissions: true };
  return [
    async () => (await analyzeCapture(chunksOf(capture, size), chosen)).info(1, { steps: true }),
    () => packetRows(chunksOf(capture, size), rows),
    () =>
      trimCapture(
        () => capture,
        () => undefined,
        trim,
      ),
  ];
}

async function outcomeOf(use: () => Promise<unknown>, label: string): Promise<string> {
  const startedAt = cpuMs();
  let outcome = 'read';
  try {
    await use();
  } catch (error) {
    if (!(error instanceof PcapError)) throw new Error(`${label} broke the reader`, { cause: error });
    outcome = error.code;
  }
  const tookMs = cpuMs() - startedAt;
  if (tookMs > SLOWEST_MS) throw new Error(`${label} took ${tookMs} ms`);
  return outcome;
}

describe('hostile captures', () => {
  it(`in ${CASES} mutations end in a result or a PcapError`, { timeout: 300_000 + CASES * 10 }, async () => {
    const frames = seedFrames();
    const outcomes = new Map<string, number>();
    for (let index = 0; index < CASES; index++) {
      const random = new Random(SEED * 1_000_003 + index);
      for (const use of uses(damaged(frames, random), random)) {
        const outcome = await outcomeOf(use, `case ${index} of seed ${SEED}`);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    }
    // A run in which every mutation is refused at the door would prove nothing.
    expect(outcomes.get('read')).toBeGreaterThan(CASES);
    expect(outcomes.get('CORRUPT_CAPTURE')).toBeGreaterThan(0);
  });

  it('with endless encapsulation do not exhaust the stack', async () => {
    const layer = Uint8Array.from([0x88, 0x64, 17, 0, 0, 1, 0, 9, 0x0f, 0]);
    const frame = new Uint8Array(200_000);
    for (let at = 12; at + layer.length <= frame.length; at += layer.length) frame.set(layer, at);
    const nested = new Uint8Array(200_000).fill(60);
    nested.set(ipPacket(new Uint8Array(1000).fill(60), { ...ENDS6, protocol: 60 }));
    const info = (await analyzeCapture(captureOfFrames([frame, ethernetFrame(nested)]))).info(1);
    expect(info.packets).toBe(2);
  });

  it('with one bogus number do not cost a gigabyte of zeros', async () => {
    const [first, last] = [1001, 1001 + 2 ** 29].map((seq) => tcpPacket(text('x'), { ...ENDS, seq, flags: ACK }));
    const capture = captureOf([first as Uint8Array, last as Uint8Array]);
    const startedAt = cpuMs();
    const work = analyzeCapture(capture, { steps: true, hashes: true, fillGaps: true });
    await expect(work).rejects.toMatchObject({ code: 'PAYLOAD_LIMIT' });
    expect(cpuMs() - startedAt).toBeLessThan(500);
    expect((await analyzeCapture(capture, { fillGaps: true })).session(0).missingBytes).toBe(2 ** 29 - 1);
  });

  it('with scattered segments are read in bounded time and memory', async () => {
    const segments: Uint8Array[] = [];
    for (let index = 0; index < 20_000; index++) {
      const seq = (1001 + ((index * 7919) % 1_000_000) * 2) >>> 0;
      segments.push(tcpPacket(text('x'), { ...ENDS, seq, ack: 9001 + index * 3, flags: ACK }));
      segments.push(
        tcpPacket(text('y'), {
          ...ENDS,
          src: ENDS.dst,
          dst: ENDS.src,
          srcPort: 53,
          dstPort: 5000,
          seq: 9001 + index * 2,
          ack: seq + 1,
          flags: ACK,
        }),
      );
    }
    const startedAt = cpuMs();
    const analysis = await analyzeCapture(captureOf([...new TcpScript().open().packets, ...segments]), { steps: true });
    expect(cpuMs() - startedAt).toBeLessThan(5000);
    expect(analysis.session(1).missingBytes).toBeGreaterThan(0);
  });
});
