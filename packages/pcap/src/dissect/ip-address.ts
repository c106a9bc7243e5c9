import { u8, u16 } from '../bytes.ts';
import { PcapError } from '../pcap-error.ts';

/** RFC 5952 text of the 4 or 16 address bytes at `at`. */
export function formatAddress(bytes: Uint8Array, at: number, count: 4 | 16): string {
  if (count === 4) return `${u8(bytes, at)}.${u8(bytes, at + 1)}.${u8(bytes, at + 2)}.${u8(bytes, at + 3)}`;
  const groups: number[] = [];
  for (let index = 0; index < 8; index++) groups.push(u16(bytes, at + index * 2));
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return `::ffff:${formatAddress(bytes, at + 12, 4)}`;
  return compress(groups);
}

function compress(groups: readonly number[]): string {
  let best = { start: 0, count: 1 };
  for (let start = 0; start < 8; start++) {
    let count = 0;
    while (groups[start + count] === 0) count++;
    if (count > best.count) best = { start, count };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.count < 2) return hex.join(':');
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.count).join(':')}`;
}

/** The 4 or 16 bytes of an address written as text. */
export function parseAddress(text: string): Uint8Array {
  const bytes = text.includes(':') ? findIpv6(text) : findIpv4(text);
  if (bytes === undefined) throw new PcapError('BAD_ADDRESS', `"${text}" is not an IP address.`);
  return bytes;
}

function findIpv4(text: string): Uint8Array | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined;
  const parts = text.split('.').map(Number);
  return parts.every((part) => part <= 255) ? Uint8Array.from(parts) : undefined;
}

function findIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = [groupsOf(halves[0] ?? ''), groupsOf(halves[1] ?? '')];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    const embedded = index === groups.length - 1 ? findIpv4(group) : undefined;
    if (embedded !== undefined) {
      bytes.push(...embedded);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >>> 8, value & 255);
    }
  }
  return bytes;
}

export function formatMac(bytes: Uint8Array, at: number): string {
  return Array.from(bytes.subarray(at, at + 6), (byte) => byte.toString(16).padStart(2, '0')).join(':');
}
