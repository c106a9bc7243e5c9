import { writeFileSync } from 'node:fs';
import { CaptureWriter, ethernetFrame, ipPacket, tcpPacket, udpDatagram, udpPacket } from '@rushhour/pcap';

const text = (value: string) => new TextEncoder().encode(value);
const nothing = new Uint8Array();

/** A TCP conversation between two recorded addresses. */
const conversation = (client: string, server: string, clientPort: number): Uint8Array[] => {
  const [c, s] = [
    { src: client, dst: server, srcPort: clientPort, dstPort: 8080 },
    { src: server, dst: client, srcPort: 8080, dstPort: clientPort },
  ];
  return [
    tcpPacket(nothing, { ...c, seq: 1000, flags: 2 }),
    tcpPacket(nothing, { ...s, seq: 9000, ack: 1001, flags: 0x12 }),
    tcpPacket(nothing, { ...c, seq: 1001, ack: 9001, flags: 0x10 }),
    tcpPacket(text(`question ${clientPort}`), { ...c, seq: 1001, ack: 9001, flags: 0x18 }),
    tcpPacket(new Uint8Array(1400).fill(clientPort), { ...s, seq: 9001, ack: 1015, flags: 0x18 }),
    tcpPacket(nothing, { ...c, seq: 1015, ack: 10_401, flags: 0x11 }),
    tcpPacket(nothing, { ...s, seq: 10_401, ack: 1016, flags: 0x11 }),
  ];
};

/** A datagram in three fragments. */
const fragments = (src: string, dst: string): Uint8Array[] => {
  const ends = { src, dst, srcPort: 5000, dstPort: 53 };
  const whole = udpDatagram(new Uint8Array(3000).fill(7), ends);
  return [0, 1400, 2800].map((fragmentOffset) =>
    ipPacket(whole.subarray(fragmentOffset, fragmentOffset + 1400), {
      ...{ ...ends, protocol: 17, id: 77, fragmentOffset },
      moreFragments: fragmentOffset < 2800,
    }),
  );
};

const unreachable = (src: string, dst: string): Uint8Array => {
  const quoted = udpPacket(text('lost'), { src: dst, dst: src, srcPort: 5000, dstPort: 53 });
  return ipPacket(Uint8Array.from([3, 3, 0, 0, 0, 0, 0, 0, ...quoted]), { src, dst, protocol: 1 });
};

/** Conversations of two clients with one server over both versions, fragments and an error. */
export const mixedPackets = (): Uint8Array[] => [
  ...conversation('192.0.2.10', '198.51.100.1', 40_001),
  ...conversation('192.0.2.11', '198.51.100.1', 40_002),
  udpPacket(text('which'), { src: '192.0.2.10', dst: '198.51.100.1', srcPort: 5000, dstPort: 53 }),
  udpPacket(text('this'), { src: '198.51.100.1', dst: '192.0.2.10', srcPort: 53, dstPort: 5000 }),
  ...fragments('192.0.2.10', '198.51.100.1'),
  unreachable('198.51.100.1', '192.0.2.10'),
];

/** Back-to-back segments, which a NIC with GRO merges. */
export const bulkPackets = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) =>
    tcpPacket(new Uint8Array(1000).fill(index), {
      ...{ src: '192.0.2.10', dst: '198.51.100.1', srcPort: 40_000, dstPort: 8080 },
      ...{ seq: 1 + index * 1000, ack: 1, flags: 0x10 },
    }),
  );

/** Packets of the client only, in IMIX sizes. */
export const imixPackets = (count: number): Uint8Array[] => {
  const sizes = [22, 22, 22, 22, 22, 22, 22, 548, 548, 548, 548, 1472];
  return Array.from({ length: count }, (_, index) =>
    udpPacket(new Uint8Array(sizes[index % sizes.length] ?? 22).fill(index), {
      ...{ src: `192.0.2.${1 + (index % 200)}`, dst: '198.51.100.1', srcPort: 1024 + (index % 60_000), dstPort: 9 },
    }),
  );
};

export interface CaptureForm {
  readonly gapMs?: number;
  readonly format?: 'pcap' | 'pcap-ns' | 'pcapng';
  readonly vlans?: readonly number[];
  /** Bytes of each frame that are kept. */
  readonly snapLen?: number;
}

/** A capture of these IP packets in Ethernet frames. */
export const captureBytes = (packets: readonly Uint8Array[], form: CaptureForm = {}): Uint8Array => {
  const writer = new CaptureWriter({ format: form.format ?? 'pcap', linkType: 1 });
  for (const [index, packet] of packets.entries()) {
    const microseconds = Math.round(index * (form.gapMs ?? 5) * 1000);
    const bytes = ethernetFrame(packet, { vlans: form.vlans ?? [] });
    writer.add({
      ...{ bytes, wireLength: bytes.length, length: Math.min(bytes.length, form.snapLen ?? bytes.length) },
      ...{ seconds: 1_700_000_000 + Math.floor(microseconds / 1e6), nanoseconds: (microseconds % 1e6) * 1000 },
    });
  }
  return writer.take();
};

export const writeCapture = (path: string, packets: readonly Uint8Array[], form: CaptureForm = {}): void =>
  writeFileSync(path, captureBytes(packets, form));
