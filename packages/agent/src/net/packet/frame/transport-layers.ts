import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import type { Layer, PlacedLayer } from './layer.ts';

export interface Ports {
  readonly source: number;
  readonly destination: number;
}

export const vxlanPort = 4789;

export const udpLayer = (ports: Ports): Layer => ({
  kind: 'udp',
  length: 8,
  ipProtocol: 17,
  write(frame, at, end) {
    frame.writeUInt16BE(ports.source, at);
    frame.writeUInt16BE(ports.destination, at + 2);
    frame.writeUInt16BE(end - at, at + 4);
    frame.writeUInt16BE(0, at + 6);
  },
});

const acknowledged = 0x10;

/** An ACK segment of a connection that was never opened. */
export const tcpLayer = (ports: Ports): Layer => ({
  kind: 'tcp',
  length: 20,
  ipProtocol: 6,
  write(frame, at) {
    frame.fill(0, at, at + 20);
    frame.writeUInt16BE(ports.source, at);
    frame.writeUInt16BE(ports.destination, at + 2);
    frame[at + 12] = 0x50;
    frame[at + 13] = acknowledged;
    frame.writeUInt16BE(0xffff, at + 14);
  },
});

const echoRequest = { icmp: 8, icmp6: 128 } as const;

/** An echo request; the source port is its identifier. */
export const echoLayer = (kind: 'icmp' | 'icmp6', identifier: number): Layer => ({
  kind,
  length: 8,
  ipProtocol: kind === 'icmp' ? 1 : 58,
  write(frame, at) {
    frame.fill(0, at, at + 8);
    frame[at] = echoRequest[kind];
    frame.writeUInt16BE(identifier, at + 4);
  },
});

export const vxlanLayer = (network: number): Layer => ({
  kind: 'vxlan',
  length: 8,
  write(frame, at) {
    frame.writeUInt32BE(0x0800_0000, at);
    frame.writeUInt32BE(network * 256, at + 4);
  },
});

const checksumOffsets: Readonly<Record<string, number>> = { udp: 6, tcp: 16, icmp: 2, icmp6: 2 };

/** The offset of a transport checksum and the sum of what it covers. */
export interface TransportSum {
  readonly at: number;
  readonly sum: number;
  /** For UDP a checksum of 0 means that there is none. */
  readonly isUdp: boolean;
}

/** The transport checksum of the innermost layer, if it has one; the checksum field must be 0. */
export const transportSumOf = (frame: Buffer, placed: readonly PlacedLayer[]): TransportSum | undefined => {
  const [ip, inner] = placed.slice(-2);
  const offset = inner && checksumOffsets[inner.layer.kind];
  if (ip === undefined || inner === undefined || offset === undefined) return undefined;
  const { kind, ipProtocol = 0 } = inner.layer;
  const addresses = ip.layer.kind === 'ipv4' ? [ip.at + 12, ip.at + 20] : [ip.at + 8, ip.at + 40];
  const pseudo = kind === 'icmp' ? 0 : sumOf(frame, addresses[0] as number, addresses[1] as number) + ipProtocol;
  const length = kind === 'icmp' ? 0 : frame.length - inner.at;
  return { at: inner.at + offset, isUdp: kind === 'udp', sum: pseudo + length + sumOf(frame, inner.at, frame.length) };
};

/** Fills in the checksum of the innermost layer. Outer UDP headers of tunnels have none, as is common. */
export const finishTransport = (frame: Buffer, placed: readonly PlacedLayer[]): void => {
  const found = transportSumOf(frame, placed);
  if (found === undefined) return;
  const checksum = checksumOf(found.sum);
  frame.writeUInt16BE(found.isUdp && checksum === 0 ? 0xffff : checksum, found.at);
};
