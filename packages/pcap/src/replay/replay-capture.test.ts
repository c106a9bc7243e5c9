import { expect, it } from 'vitest';
import { checksumOf, pseudoHeaderSum, sumOf } from '../checksum.ts';
import { dissectEthernet } from '../dissect/dissect.ts';
import { Frame } from '../dissect/frame.ts';
import { formatAddress, parseAddress } from '../dissect/ip-address.ts';
import { captureOf, captureOfFrames, text } from '../testing/build-capture.ts';
import { TcpScript } from '../testing/tcp-script.ts';
import { ethernetFrame, ipPacket, tcpPacket, udpDatagram, udpPacket } from '../write/frame-builder.ts';
import { replaceAddress } from './frame-checksums.ts';
import { ReplayCapture, type ReplayFrame, type ReplaySelection } from './replay-capture.ts';
import type { ReplayRules } from './replay-rules.ts';

const macs = { source: Uint8Array.of(2, 1, 1, 1, 1, 1), destination: Uint8Array.of(2, 2, 2, 2, 2, 2) };
const kept: ReplayRules = { macs, keepsMacs: true, mtu: 1500, fixesChecksums: true };
const ends: NonNullable<ReplayRules['ends']> = {
  client: (index, size) => parseAddress(size === 4 ? `10.50.0.${index + 1}` : `fd50::${index + 1}`),
  server: (index, size) => parseAddress(size === 4 ? `10.60.0.${index + 1}` : `fd60::${index + 1}`),
};
const moved: ReplayRules = { ...kept, ends, keepsMacs: false };

const played = async (capture: Uint8Array, rules = kept, selection: ReplaySelection = {}) => {
  const frames: (ReplayFrame & { frame: Frame; content: Buffer })[] = [];
  const replay = await ReplayCapture.read(capture, selection);
  const outcome = replay.play(rules, (one) => {
    const content = Buffer.from(one.bytes.slice(one.start, one.start + one.length));
    const frame = new Frame();
    dissectEthernet(frame, content, 0, content.length);
    frames.push({ ...one, frame, content });
  });
  return { frames, outcome, replay };
};

const endsOf = ({ frame }: { frame: Frame }) => {
  const size = frame.ipVersion === 4 ? 4 : 16;
  const [from, to] = [frame.source, frame.destination].map((at) => formatAddress(frame.bytes, at, size));
  return `${from}>${to}`;
};

/** As a receiver reckons: over everything, the checksum included, the result is 0. */
const checksumsOf = ({ frame }: { frame: Frame }) => {
  const { bytes, networkStart, transportStart, transportLength, protocol, source, ipVersion } = frame;
  const header = ipVersion === 4 ? checksumOf(sumOf(bytes, networkStart, networkStart + 20)) : 0;
  const size = ipVersion === 4 ? 4 : 16;
  const pseudo =
    protocol === 1 ? 0 : pseudoHeaderSum(bytes.subarray(source, source + 2 * size), protocol, transportLength);
  return [header, checksumOf(pseudo + sumOf(bytes, transportStart, transportStart + transportLength))];
};

it('frames without rules are what was recorded', async () => {
  const frames = [...new TcpScript().open().client('question').server('answer').close().packets].map((packet) =>
    ethernetFrame(packet, { vlans: [100, 7] }),
  );
  const { frames: out, outcome } = await played(captureOfFrames(frames));
  expect(out.map(({ content }) => content)).toEqual(frames.map((frame) => Buffer.from(frame)));
  expect(out.map(({ timeMs }) => timeMs)).toEqual(frames.map((_, index) => index));
  expect(outcome).toEqual({ notFrames: 0, noAddress: 0, tooLong: 0, clients: 0 });
});

it('both sides get addresses of their own, and every checksum is right again', async () => {
  const four = new TcpScript().open().client('question').server('answer').close().packets;
  const six = new TcpScript({ client: 'fd00::9', server: 'fd00::1' }).open().client('x').reset().packets;
  const { frames } = await played(captureOf([...four, ...six]), { ...moved, ttl: 9, dscp: 46 });
  expect(frames.slice(0, 3).map(endsOf)).toEqual(['10.50.0.1>10.60.0.1', '10.60.0.1>10.50.0.1', '10.50.0.1>10.60.0.1']);
  expect(endsOf(frames.at(-1) as (typeof frames)[number])).toBe('fd60::1>fd50::1');
  for (const one of frames) expect(checksumsOf(one)).toEqual([0, 0]);
  const [first, last] = [frames[0], frames.at(-1)] as [(typeof frames)[number], (typeof frames)[number]];
  expect([first.content[14 + 8], first.content[14 + 1], last.content[14 + 7]]).toEqual([9, 46 << 2, 9]);
  expect(last.content.readUInt16BE(14)).toBe(0x6000 | (46 << 6));
  expect(first.content.subarray(0, 12)).toEqual(Buffer.from([...macs.destination, ...macs.source]));
});

it('ports become those of the networks, the same for both directions of a flow', async () => {
  const scripts = [40_000, 40_001].map((clientPort) => new TcpScript({ clientPort }).open().client('a').server('b'));
  const capture = captureOf(scripts.flatMap(({ packets }) => packets));
  const rules = { ...moved, ends: { ...ends, clientPort: (flow: number) => 5000 + flow, serverPort: () => 9000 } };
  const { frames } = await played(capture, rules);
  const ports = frames.map(({ frame }) => `${frame.sourcePort}>${frame.destinationPort}`);
  expect(ports).toEqual(
    [5000, 5001].flatMap((port) => [`${port}>9000`, `9000>${port}`, `${port}>9000`, `${port}>9000`, `9000>${port}`]),
  );
  for (const one of frames) expect(checksumsOf(one)).toEqual([0, 0]);
});

it('fragments and errors stay with their flow and keep true checksums', async () => {
  const ask = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 4000, dstPort: 53 };
  const whole = udpDatagram(new Uint8Array(3000).fill(7), ask);
  const pieces = [0, 1480, 2960].map((fragmentOffset) =>
    ipPacket(whole.subarray(fragmentOffset, fragmentOffset + 1480), {
      ...ask,
      protocol: 17,
      id: 77,
      fragmentOffset,
      moreFragments: fragmentOffset < 2960,
    }),
  );
  const quoted = udpPacket(text('lost'), ask);
  const error = Uint8Array.from([3, 3, 0, 0, 0, 0, 0, 0, ...quoted]);
  const packets = [
    udpPacket(text('first'), ask),
    ...pieces,
    ipPacket(error, { src: '10.9.9.9', dst: ask.src, protocol: 1 }),
  ];
  const { frames } = await played(captureOf(packets), moved);
  expect(frames.map(endsOf)).toEqual([...Array(4).fill('10.50.0.1>10.60.0.1'), '10.60.0.2>10.50.0.1']);
  const parts = frames.slice(1, 4).map(({ frame }) => frame.bytes.subarray(frame.transportStart));
  const again = Buffer.concat(parts);
  const { bytes, source } = (frames[1] as (typeof frames)[number]).frame;
  const pseudo = pseudoHeaderSum(bytes.subarray(source, source + 8), 17, again.length);
  expect(checksumOf(pseudo + sumOf(again, 0, again.length))).toBe(0);
  const last = frames[4] as (typeof frames)[number];
  expect(checksumsOf(last)).toEqual([0, 0]);
  const inner = last.frame.transportStart + 8;
  expect(formatAddress(last.frame.bytes, inner + 12, 4)).toBe('10.50.0.1');
  expect(checksumOf(sumOf(last.frame.bytes, inner, inner + 20))).toBe(0);
  for (const { clientAddresses, content } of [...frames.slice(0, 1), last]) {
    for (const address of clientAddresses) replaceAddress(content, 0, address, parseAddress('10.77.88.99'));
    const frame = new Frame();
    dissectEthernet(frame, content, 0, content.length);
    expect([endsOf({ frame }).includes('10.77.88.99'), ...checksumsOf({ frame })]).toEqual([true, 0, 0]);
  }
  const again4 = last.content.subarray(inner + 20);
  const lost = pseudoHeaderSum(last.content.subarray(inner + 12, inner + 20), 17, again4.length);
  expect(checksumOf(lost + sumOf(again4, 0, again4.length))).toBe(0);
});

it('packets of other link layers get an Ethernet header, and those of unknown ones are counted', async () => {
  const packet = udpPacket(text('hello'), { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 1, dstPort: 2 });
  const cooked = Uint8Array.from([0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0, ...packet]);
  const cooked2 = Uint8Array.from([8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, ...packet]);
  const loop = Uint8Array.from([2, 0, 0, 0, ...packet]);
  const expected = Buffer.from([...macs.destination, ...macs.source, 8, 0, ...packet]);
  for (const [linkType, bytes] of [
    [101, packet],
    [113, cooked],
    [276, cooked2],
    [0, loop],
  ] as const) {
    const { frames } = await played(captureOfFrames([bytes], {}, linkType));
    expect(frames.map(({ content }) => content)).toEqual([expected]);
  }
  const { outcome, frames } = await played(captureOfFrames([packet], {}, 105));
  expect([outcome.notFrames, frames.length]).toEqual([1, 0]);
});

it('one tag replaces all recorded ones, and 0 removes them', async () => {
  const packet = udpPacket(text('hello'), { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 1, dstPort: 2 });
  const capture = captureOfFrames([ethernetFrame(packet, { vlans: [100, 0x6007] })]);
  const tagged = await played(capture, { ...kept, vlan: 9 });
  expect(tagged.frames[0]?.content.subarray(12, 18)).toEqual(Buffer.from([0x81, 0, 0, 9, 8, 0]));
  const plain = await played(capture, { ...kept, vlan: 0 });
  expect(plain.frames[0]?.content).toEqual(Buffer.from(ethernetFrame(packet)));
});

it('long segments are segmented as a NIC would, long datagrams are fragmented', async () => {
  const payload = Uint8Array.from({ length: 4000 }, (_, index) => index);
  const fields = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 4000, dstPort: 80 };
  const segment = tcpPacket(payload, { ...fields, seq: 0xffff_ff00, flags: 0x19 });
  const datagram = udpPacket(payload, { ...fields, src: 'fd00::1', dst: 'fd00::2' });
  const { frames } = await played(captureOf([segment, datagram, udpPacket(payload, fields)]), moved);
  const [tcp, rest] = [frames.slice(0, 3), frames.slice(3)];
  expect(tcp.map(({ frame }) => [frame.payloadLength, frame.sequence >>> 0, frame.flags])).toEqual([
    [1460, 0xffff_ff00, 0x10],
    [1460, 1204, 0x10],
    [1080, 2664, 0x19],
  ]);
  for (const one of tcp) expect(checksumsOf(one)).toEqual([0, 0]);
  expect(rest.map(({ frame }) => [frame.ipVersion, frame.fragmentOffset, frame.transportLength])).toEqual([
    [6, 0, 1448],
    [6, 1448, 1448],
    [6, 2896, 1112],
    [4, 0, 1480],
    [4, 1480, 1480],
    [4, 2960, 1048],
  ]);
  const { outcome } = await played(captureOfFrames([ethernetFrame(payload, { etherType: 0x88b5 })]));
  expect(outcome.tooLong).toBe(1);
});

it('what was not captured is filled with zeros up to the true length', async () => {
  const packet = tcpPacket(new Uint8Array(500).fill(9), {
    ...{ src: '10.1.0.1', dst: '10.2.0.1', srcPort: 4000, dstPort: 80 },
    ...{ seq: 1, flags: 0x10 },
  });
  const { frames, replay } = await played(captureOf([packet], { snapLen: 100 }));
  expect([replay.truncated, frames[0]?.length]).toEqual([1, packet.length + 14]);
  expect(checksumsOf(frames[0] as (typeof frames)[number])).toEqual([0, 0]);
});

it('filters select packets, and long pauses are shortened', async () => {
  const packets = [1, 2, 3, 4].map((port) =>
    udpPacket(text('x'), { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 1000 + port, dstPort: 53 }),
  );
  const capture = captureOf(packets, { stepMs: 400 });
  const { frames } = await played(capture, kept, {
    include: 'udp',
    exclude: 'port 1002',
    packets: '2-4',
    maxGapMs: 100,
  });
  expect(frames.map(({ frame, timeMs }) => [frame.sourcePort, timeMs])).toEqual([
    [1003, 0],
    [1004, 100],
  ]);
  await expect(played(capture, kept, { include: 'tcp' })).rejects.toMatchObject({ code: 'NOTHING_LEFT' });
  await expect(played(capture, kept, { maxBytes: 100 })).rejects.toMatchObject({ code: 'CAPTURE_TOO_LARGE' });
});

it('the address of the client decides where the handshake was not seen', async () => {
  const packet = udpPacket(text('x'), { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 9, dstPort: 9000 });
  const sides = async (clientIp?: string) =>
    (await played(captureOf([packet]), kept, clientIp === undefined ? {} : { clientIp })).frames[0]?.isFromClient;
  expect([await sides(), await sides('10.1.0.1'), await sides('10.2.0.1')]).toEqual([false, true, false]);
});

it('packets of a version that has no addresses are left out and counted', async () => {
  const capture = captureOf([
    udpPacket(text('4'), { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 5000, dstPort: 53 }),
    udpPacket(text('6'), { src: 'fd00::1', dst: 'fd00::2', srcPort: 5000, dstPort: 53 }),
  ]);
  const onlyFour: ReplayRules = {
    ...moved,
    ends: { ...ends, client: (index, size) => (size === 4 ? ends.client(index, 4) : undefined) },
  };
  const { frames, outcome } = await played(capture, onlyFour);
  expect([frames.length, outcome.noAddress, outcome.clients]).toEqual([1, 1, 1]);
});

it('keys do not depend on members that change in transit', async () => {
  const packets = new TcpScript().open().client('question').server('answer').close().packets;
  const [one, other] = [await played(captureOf(packets)), await played(captureOf(packets), { ...moved, ttl: 3 })];
  expect(other.frames.map(({ key }) => key)).toEqual(one.frames.map(({ key }) => key));
  expect(new Set(one.frames.map(({ key }) => key)).size).toBe(packets.length);
});
