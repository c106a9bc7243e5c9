import type { Memory } from '../../bytes/memory.ts';
import { EthernetHeader, etherType, macBytes } from '../../ethernet/ethernet.ts';
import { ipProtocol } from '../../ip/header-fields.ts';

export type LinkHash = 'layer2' | 'layer2+3' | 'layer3+4' | 'round-robin';

const prime = 0x01000193;
const mixed = (hash: number, value: number): number => Math.imul(hash ^ value, prime) ^ (hash >>> 15);
const ipv6Bytes = 40;
const ipv4Bytes = 20;

/** Chooses the link of a frame: frames of one flow always take the same of `count` links, as long as there are as many. */
export class LinkChoice {
  readonly #kind: LinkHash;
  readonly #header = new EthernetHeader();
  #next = 0;

  constructor(kind: LinkHash) {
    this.#kind = kind;
  }

  linkOf(memory: Memory, start: number, end: number, count: number): number {
    if (count <= 1) return 0;
    if (this.#kind === 'round-robin') return this.#next++ % count;
    return (this.#hash(memory, start, end) >>> 0) % count;
  }

  #hash(memory: Memory, start: number, end: number): number {
    const header = this.#header;
    if (!header.parse(memory, start, end)) return 0;
    const { view } = memory;
    let hash = 0x811c9dc5;
    const isIp = this.#isIp(header, end);
    if (this.#kind !== 'layer3+4' || !isIp)
      for (let at = start; at < start + 2 * macBytes; at += 2) hash = mixed(hash, view.getUint16(at));
    if (this.#kind === 'layer2' || !isIp) return finished(mixed(hash, header.type));
    const isIpv4 = header.type === etherType.ipv4;
    const [from, to] = isIpv4 ? [12, 20] : [8, 40];
    for (let at = header.payload + from; at < header.payload + to; at += 4) hash = mixed(hash, view.getInt32(at));
    return finished(this.#kind === 'layer2+3' ? hash : this.#withPorts(hash, memory, header.payload, end));
  }

  #isIp({ type, payload }: EthernetHeader, end: number): boolean {
    if (type === etherType.ipv4) return payload + ipv4Bytes <= end;
    return type === etherType.ipv6 && payload + ipv6Bytes <= end;
  }

  /** Ports of TCP and UDP; fragments go without. */
  #withPorts(hash: number, { view }: Memory, at: number, end: number): number {
    const isIpv4 = view.getUint8(at) >>> 4 === 4;
    const protocol = view.getUint8(at + (isIpv4 ? 9 : 6));
    const isFragment = isIpv4 && (view.getUint16(at + 6) & 0x3fff) !== 0;
    const ports = at + (isIpv4 ? (view.getUint8(at) & 15) * 4 : ipv6Bytes);
    const hasPorts = protocol === ipProtocol.tcp || protocol === ipProtocol.udp;
    return hasPorts && !isFragment && ports + 4 <= end ? mixed(hash, view.getInt32(ports)) : hash;
  }
}

const finished = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return once ^ (once >>> 15);
};
