import type { Memory } from '../../bytes/memory.ts';
import { copyMac } from '../../ethernet/ethernet.ts';
import { readAddress6, writeAddress6 } from '../../ip/address.ts';

const option = { sourceLinkAddress: 1, prefix: 3 } as const;
const prefixFlags = { onLink: 0x80, autonomous: 0x40 } as const;
const routerFlags = { managed: 0x80, other: 0x40 } as const;
const prefixBytes = 32;
const linkAddressBytes = 8;
/** Timers of an advertisement behind the first word of ICMP. */
const timerBytes = 8;
/** Interface identifiers have 64 bits (RFC 4291). */
const prefixBits = 64;

/** A router advertisement (RFC 4861), parsed into one object that is used again. */
export class RouterAdvertisement {
  /** Addresses come from DHCPv6. */
  isManaged = false;
  /** 0: not a default router. */
  lifetimeSec = 0;
  /** There is a prefix that hosts may make addresses from. */
  hasPrefix = false;
  readonly prefix = new Int32Array(4);
  validSec = 0;
  /** Where the MAC of the router stands; -1: it is not in the message. */
  linkAddressAt = -1;

  /** `word`: second word of the ICMP header; `body`: what follows it. */
  parse({ view }: Memory, body: number, end: number, word: number): boolean {
    if (end - body < timerBytes) return false;
    this.isManaged = ((word >>> 16) & routerFlags.managed) !== 0;
    this.lifetimeSec = word & 0xffff;
    this.hasPrefix = false;
    this.linkAddressAt = -1;
    for (let at = body + timerBytes; at + 8 <= end; ) {
      const length = view.getUint8(at + 1) * 8;
      if (length === 0 || at + length > end) return false;
      const type = view.getUint8(at);
      if (type === option.sourceLinkAddress && length === linkAddressBytes) this.linkAddressAt = at + 2;
      if (type === option.prefix && length === prefixBytes && !this.hasPrefix) this.#readPrefix(view, at);
      at += length;
    }
    return true;
  }

  #readPrefix(view: DataView, at: number): void {
    const validSec = view.getUint32(at + 4);
    const isUsable = view.getUint8(at + 2) === prefixBits && (view.getUint8(at + 3) & prefixFlags.autonomous) !== 0;
    if (!isUsable || validSec === 0) return;
    this.hasPrefix = true;
    this.validSec = validSec;
    readAddress6(view, at + 16, this.prefix, 0);
  }
}

export interface AdvertisedRouter {
  readonly mac: Uint8Array;
  readonly isManaged: boolean;
  readonly lifetimeSec: number;
  /** Prefix that hosts make addresses from. */
  readonly prefix?:
    | { readonly words: Int32Array; readonly validSec: number; readonly preferredSec: number }
    | undefined;
}

/** Bytes of an advertisement behind the second word of ICMP. */
export const advertisementBytes = ({ prefix }: AdvertisedRouter): number =>
  timerBytes + linkAddressBytes + (prefix === undefined ? 0 : prefixBytes);

/** Second word of the ICMP header: hop limit of hosts, flags, lifetime. */
export const advertisementWord = ({ isManaged, lifetimeSec }: AdvertisedRouter): number =>
  (64 << 24) | ((isManaged ? routerFlags.managed | routerFlags.other : 0) << 16) | lifetimeSec;

/** Writes what follows the second word of ICMP into zeroed memory. */
export const writeAdvertisement = ({ bytes, view }: Memory, start: number, router: AdvertisedRouter): void => {
  const at = start + timerBytes;
  view.setUint16(at, (option.sourceLinkAddress << 8) | 1);
  copyMac(router.mac, 0, bytes, at + 2);
  const { prefix } = router;
  if (prefix === undefined) return;
  const to = at + linkAddressBytes;
  view.setUint16(to, (option.prefix << 8) | (prefixBytes / 8));
  view.setUint16(to + 2, (prefixBits << 8) | prefixFlags.onLink | prefixFlags.autonomous);
  view.setUint32(to + 4, prefix.validSec);
  view.setUint32(to + 8, prefix.preferredSec);
  writeAddress6(view, to + 16, prefix.words, 0);
  bytes.fill(0, to + 24, to + 32);
};
