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

/** A question who has an address, or the answer. */
export interface NeighbourMessage {
  readonly kind: 'question' | 'answer';
  readonly tags: readonly VlanTag[];
  /** Of who speaks. */
  readonly mac: Buffer;
  readonly address: string;
  /** The address that is asked for or answered for. */
  readonly subject: string;
}

export interface Speaker {
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

/** Type, flags, the address it is about, and the own MAC as option. */
const discoveryLayer = (type: number, subject: string, mac: Uint8Array): Layer => ({
  kind: 'icmp6',
  length: 32,
  ipProtocol: 58,
  write(frame, at) {
    frame.fill(0, at, at + 32);
    frame[at] = type;
    if (type === advertisement) frame.writeUInt32BE(solicitedOverride, at + 4);
    frame.set(addressBytes(subject), at + 8);
    frame[at + 24] = type === solicitation ? 1 : 2;
    frame[at + 25] = 1;
    frame.set(mac, at + 26);
  },
});

const discoveryIp = (source: string, destination: string) => ipLayer({ ...plainIp, ttl: 255, source, destination });

/** Asks for the MAC of an address. */
export const questionFrame = ({ mac, address, tags }: Speaker, subject: string): Buffer => {
  const target = addressBytes(subject);
  const vlans = tags.map(vlanLayer);
  if (target.length === 4) {
    const arp = { senderMac: mac, senderAddress: addressBytes(address), targetMac: unknown, targetAddress: target };
    return frameOf([ethernetLayer(broadcast, mac), ...vlans, arpLayer({ operation: 'request', ...arp })]);
  }
  const last = target.subarray(13);
  const group = addressText(Buffer.concat([Buffer.from('ff0200000000000000000001ff', 'hex'), last]));
  const groupMac = Buffer.concat([Buffer.from('3333ff', 'hex'), last]);
  const layers = [ethernetLayer(groupMac, mac), ...vlans, discoveryIp(address, group)];
  return frameOf([...layers, discoveryLayer(solicitation, subject, mac)]);
};

/** Answers a question in the name of the address it asks for. */
export const answerFrame = (question: NeighbourMessage, mac: Uint8Array): Buffer => {
  const layers = [ethernetLayer(question.mac, mac), ...question.tags.map(vlanLayer)];
  const { subject, address } = question;
  if (!subject.includes(':')) {
    const ends = { senderMac: mac, senderAddress: addressBytes(subject) };
    const peer = { targetMac: question.mac, targetAddress: addressBytes(address) };
    return frameOf([...layers, arpLayer({ operation: 'reply', ...ends, ...peer })]);
  }
  return frameOf([...layers, discoveryIp(subject, address), discoveryLayer(advertisement, subject, mac)]);
};

const tagOf = (type: number, content: number): VlanTag => ({ type, id: content & 0xfff, priority: content >>> 13 });

/** Undefined for everything else. */
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
  const kind = bytes[at + 42] === solicitation ? 'question' : bytes[at + 42] === advertisement ? 'answer' : undefined;
  if (kind === undefined) return undefined;
  return {
    kind,
    tags,
    mac: Buffer.from(bytes.subarray(start + 6, start + 12)),
    address: addressText(bytes.subarray(at + 10, at + 26)),
    subject: addressText(bytes.subarray(at + 50, at + 66)),
  };
};

const readArp = (bytes: Buffer, at: number): Omit<NeighbourMessage, 'tags'> => {
  const isQuestion = bytes.readUInt16BE(at + 6) === 1;
  const address = addressText(bytes.subarray(at + 14, at + 18));
  return {
    kind: isQuestion ? 'question' : 'answer',
    mac: Buffer.from(bytes.subarray(at + 8, at + 14)),
    address,
    subject: isQuestion ? addressText(bytes.subarray(at + 24, at + 28)) : address,
  };
};
