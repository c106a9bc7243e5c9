import { type Layer, lengthOf, writeLayers } from './frame/layer.ts';
import { arpLayer, ethernetLayer, type VlanTag, vlanLayer } from './frame/link-layers.ts';
import { addressBytes, addressText, ipLayer, plainIp } from './frame/network-layers.ts';
import { finishTransport } from './frame/transport-layers.ts';
import type { ArrivedFrame } from './packet-ring.ts';

const broadcast = Buffer.alloc(6, 0xff);
const unknown = Buffer.alloc(6);
const vlanTypes = new Set([0x8100, 0x88a8, 0x9100]);
const solicitation = 135;
const advertisement = 136;
const solicitedOverride = 0x6000_0000;

/** A request for the MAC address of `target`, or the reply. */
export interface NeighbourMessage {
  readonly kind: 'request' | 'reply';
  readonly tags: readonly VlanTag[];
  /** Of the sender. */
  readonly mac: Buffer;
  readonly address: string;
  readonly target: string;
}

export interface NeighbourSender {
  readonly mac: Uint8Array;
  readonly address: string;
  readonly tags: readonly VlanTag[];
}

const frameOf = (layers: readonly Layer[], payload: Uint8Array = new Uint8Array()): Buffer => {
  const frame = Buffer.alloc(Math.max(60, lengthOf(layers) + payload.length));
  const used = frame.subarray(0, lengthOf(layers) + payload.length);
  used.set(payload, lengthOf(layers));
  finishTransport(used, writeLayers(used, layers));
  return frame;
};

/** Type, flags, target address, and the sender's MAC address as option. */
const discoveryLayer = (type: number, target: string, mac: Uint8Array): Layer => ({
  kind: 'icmp6',
  length: 32,
  ipProtocol: 58,
  write(frame, at) {
    frame.fill(0, at, at + 32);
    frame[at] = type;
    if (type === advertisement) frame.writeUInt32BE(solicitedOverride, at + 4);
    frame.set(addressBytes(target), at + 8);
    frame[at + 24] = type === solicitation ? 1 : 2;
    frame[at + 25] = 1;
    frame.set(mac, at + 26);
  },
});

const discoveryIp = (source: string, destination: string) => ipLayer({ ...plainIp, ttl: 255, source, destination });

/** A request for the MAC address of `target`. */
export const requestFrame = ({ mac, address, tags }: NeighbourSender, target: string): Buffer => {
  const targetBytes = addressBytes(target);
  const vlans = tags.map(vlanLayer);
  if (targetBytes.length === 4) {
    const arp = {
      senderMac: mac,
      senderAddress: addressBytes(address),
      targetMac: unknown,
      targetAddress: targetBytes,
    };
    return frameOf([ethernetLayer(broadcast, mac), ...vlans, arpLayer({ operation: 'request', ...arp })]);
  }
  const last = targetBytes.subarray(13);
  const group = addressText(Buffer.concat([Buffer.from('ff0200000000000000000001ff', 'hex'), last]));
  const groupMac = Buffer.concat([Buffer.from('3333ff', 'hex'), last]);
  const layers = [ethernetLayer(groupMac, mac), ...vlans, discoveryIp(address, group)];
  return frameOf([...layers, discoveryLayer(solicitation, target, mac)]);
};

/** The reply to a request, on behalf of its target. */
export const replyFrame = (request: NeighbourMessage, mac: Uint8Array): Buffer => {
  const layers = [ethernetLayer(request.mac, mac), ...request.tags.map(vlanLayer)];
  const { target, address } = request;
  if (!target.includes(':')) {
    const ends = { senderMac: mac, senderAddress: addressBytes(target) };
    const peer = { targetMac: request.mac, targetAddress: addressBytes(address) };
    return frameOf([...layers, arpLayer({ operation: 'reply', ...ends, ...peer })]);
  }
  return frameOf([...layers, discoveryIp(target, address), discoveryLayer(advertisement, target, mac)]);
};

const tagOf = (type: number, content: number): VlanTag => ({ type, id: content & 0xfff, priority: content >>> 13 });

/** Undefined for all other frames. */
export const readNeighbourMessage = ({ bytes, start, end, tag }: ArrivedFrame): NeighbourMessage | undefined => {
  const tags = tag < 0 ? [] : [tagOf(Math.floor(tag / 65_536), tag % 65_536)];
  let at = start + 12;
  while (at + 6 <= end && vlanTypes.has(bytes.readUInt16BE(at))) {
    tags.push(tagOf(bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)));
    at += 4;
  }
  if (at + 30 > end) return undefined;
  const type = bytes.readUInt16BE(at);
  if (type === 0x0806) return { ...readArp(bytes, at + 2), tags };
  if (type !== 0x86dd || at + 66 > end || bytes[at + 8] !== 58) return undefined;
  const kind = bytes[at + 42] === solicitation ? 'request' : bytes[at + 42] === advertisement ? 'reply' : undefined;
  if (kind === undefined) return undefined;
  return {
    kind,
    tags,
    mac: Buffer.from(bytes.subarray(start + 6, start + 12)),
    address: addressText(bytes.subarray(at + 10, at + 26)),
    target: addressText(bytes.subarray(at + 50, at + 66)),
  };
};

const readArp = (bytes: Buffer, at: number): Omit<NeighbourMessage, 'tags'> => {
  const isRequest = bytes.readUInt16BE(at + 6) === 1;
  const address = addressText(bytes.subarray(at + 14, at + 18));
  return {
    kind: isRequest ? 'request' : 'reply',
    mac: Buffer.from(bytes.subarray(at + 8, at + 14)),
    address,
    target: isRequest ? addressText(bytes.subarray(at + 24, at + 28)) : address,
  };
};
