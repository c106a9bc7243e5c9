import type { Layer } from './layer.ts';

/** IEEE 802 local experimental EtherType, for payloads without a protocol. */
const experimental = 0x88b5;
const bridged = 0x6558;

export const parseMac = (text: string): Buffer => {
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(text)) throw new RangeError(`${text} is not a MAC address`);
  return Buffer.from(text.replaceAll(':', ''), 'hex');
};

export const ethernetLayer = (destination: Uint8Array, source: Uint8Array): Layer => ({
  kind: 'ethernet',
  length: 14,
  etherType: bridged,
  write(frame, at, _end, next) {
    frame.set(destination, at);
    frame.set(source, at + 6);
    frame.writeUInt16BE(next?.etherType ?? experimental, at + 12);
  },
});

export interface VlanTag {
  readonly id: number;
  readonly priority: number;
  readonly type: number;
}

export const vlanLayer = ({ id, priority, type }: VlanTag): Layer => ({
  kind: 'vlan',
  length: 4,
  etherType: type,
  write(frame, at, _end, next) {
    frame.writeUInt16BE((priority << 13) | id, at);
    frame.writeUInt16BE(next?.etherType ?? experimental, at + 2);
  },
});

export interface MplsLabel {
  readonly label: number;
  readonly trafficClass: number;
  readonly ttl: number;
}

export const mplsLayer = ({ label, trafficClass, ttl }: MplsLabel): Layer => ({
  kind: 'mpls',
  length: 4,
  etherType: 0x8847,
  write(frame, at, _end, next) {
    const bottom = next?.kind === 'mpls' ? 0 : 0x100;
    frame.writeUInt32BE(label * 4096 + (trafficClass << 9) + bottom + ttl, at);
  },
});

export interface ArpMessage {
  readonly operation: 'request' | 'reply';
  readonly senderMac: Uint8Array;
  readonly senderAddress: Uint8Array;
  readonly targetMac: Uint8Array;
  readonly targetAddress: Uint8Array;
}

export const arpLayer = (message: ArpMessage): Layer => ({
  kind: 'arp',
  length: 28,
  etherType: 0x0806,
  write(frame, at) {
    frame.writeUInt32BE(0x0001_0800, at);
    frame.writeUInt16BE(0x0604, at + 4);
    frame.writeUInt16BE(message.operation === 'request' ? 1 : 2, at + 6);
    frame.set(message.senderMac, at + 8);
    frame.set(message.senderAddress, at + 14);
    frame.set(message.targetMac, at + 18);
    frame.set(message.targetAddress, at + 24);
  },
});
