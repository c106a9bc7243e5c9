import type { Memory } from '../bytes/memory.ts';

export const etherType = {
  ipv4: 0x0800,
  arp: 0x0806,
  vlan: 0x8100,
  ipv6: 0x86dd,
  mpls: 0x8847,
  mplsMulticast: 0x8848,
  serviceVlan: 0x88a8,
  /** Outer tag of equipment from before 802.1ad. */
  oldServiceVlan: 0x9100,
  pppoeDiscovery: 0x8863,
  pppoeSession: 0x8864,
  bridged: 0x6558,
} as const;

export const macBytes = 6;
export const ethernetBytes = 14;
/** Header with two VLAN tags. */
export const maxEthernetBytes = 22;

/**
 * VLAN tags of a host in one number: inner TCI, and outer TCI × 65536 for QinQ; 0: untagged. A TCI is
 * priority × 8192 + identifier.
 */
export const vlanTags = (
  inner: { id: number; priority?: number },
  outer?: { id: number; priority?: number },
): number => {
  const tci = (tag: { id: number; priority?: number }) => ((tag.priority ?? 0) << 13) | tag.id;
  return outer === undefined ? tci(inner) : (tci(outer) << 16) | tci(inner);
};

/** Only the identifiers of tags: priorities do not separate networks. */
export const vlanIds = (tags: number): number => tags & 0x0fff0fff;

export const etherHeaderLength = (tags: number): number => (tags === 0 ? 14 : tags >>> 16 === 0 ? 18 : 22);

/** Types of tags in one number: that of a single or inner tag, and that of an outer one × 65536. */
export const defaultTagTypes = (etherType.serviceVlan << 16) | etherType.vlan;

/** Writes type and tags of a header that ends at `end`; the MAC addresses before them are the caller's. Returns its start. */
export const writeEtherTypes = (
  view: DataView,
  end: number,
  tags: number,
  type: number,
  tagTypes = defaultTagTypes,
): number => {
  view.setUint16(end - 2, type);
  if (tags === 0) return end - 14;
  view.setInt32(end - 6, (tagTypes << 16) | (tags & 0xffff));
  if (tags >>> 16 === 0) return end - 18;
  view.setInt32(end - 10, (tagTypes & 0xffff_0000) | (tags >>> 16));
  return end - 22;
};

const isTag = (type: number): boolean =>
  type === etherType.vlan || type === etherType.serviceVlan || type === etherType.oldServiceVlan;

/** A frame's header, parsed into one object that is used again. */
export class EthernetHeader {
  tags = 0;
  type = 0;
  /** Where the payload starts. */
  payload = 0;

  /** Reads the header with up to two tags. Returns false if the frame is too short. */
  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < ethernetBytes) return false;
    let at = start + 12;
    let type = view.getUint16(at);
    let tags = 0;
    for (let depth = 0; depth < 2 && isTag(type); depth++) {
      if (at + 6 > end) return false;
      tags = (tags << 16) | view.getUint16(at + 2);
      at += 4;
      type = view.getUint16(at);
    }
    this.tags = tags;
    this.type = type;
    this.payload = at + 2;
    return true;
  }
}

export const isSameMac = (a: Uint8Array, atA: number, b: Uint8Array, atB: number): boolean => {
  for (let i = 0; i < macBytes; i++) if (a[atA + i] !== b[atB + i]) return false;
  return true;
};

export const copyMac = (from: Uint8Array, atFrom: number, to: Uint8Array, atTo: number): void => {
  for (let i = 0; i < macBytes; i++) to[atTo + i] = from[atFrom + i] as number;
};

/** A MAC address from text such as 02:00:00:00:00:01. */
export const parseMac = (text: string): Uint8Array => {
  const parts = text.split(/[:-]/);
  const bytes = Uint8Array.from(parts, (part) => Number.parseInt(part, 16));
  if (parts.length !== macBytes || parts.some((part) => !/^[0-9a-f]{1,2}$/i.test(part)))
    throw new RangeError(`${text} is not a MAC address`);
  return bytes;
};

export const formatMac = (bytes: Uint8Array, at = 0): string =>
  Array.from(bytes.subarray(at, at + macBytes), (byte) => byte.toString(16).padStart(2, '0')).join(':');
