import type { Memory } from '../bytes/memory.ts';
import { copyMac } from '../ethernet/ethernet.ts';
import { readAddress6, writeAddress6 } from '../ip/address.ts';

const option = { sourceLinkAddress: 1, targetLinkAddress: 2 } as const;

/** Body of a solicitation or an advertisement: target address and one link address option. */
export const neighbourBodyBytes = 24;
/** Flags of an advertisement, in the second word. */
export const advertisementFlags = { router: 1 << 31, solicited: 1 << 30, override: 1 << 29 } as const;

/** A neighbour solicitation or advertisement (RFC 4861), parsed into one object that is used again. */
export class NeighbourMessage {
  readonly target = new Int32Array(4);
  /** Where the link address of the option stands; -1: there is none. */
  linkAddressAt = -1;

  /** `body`: what follows the second word of the ICMP header. */
  parse({ view }: Memory, body: number, end: number, isSolicitation: boolean): boolean {
    if (end - body < 16) return false;
    readAddress6(view, body, this.target, 0);
    this.linkAddressAt = -1;
    const wanted = isSolicitation ? option.sourceLinkAddress : option.targetLinkAddress;
    for (let at = body + 16; at + 8 <= end; ) {
      const length = view.getUint8(at + 1) * 8;
      if (length === 0 || at + length > end) return false;
      if (view.getUint8(at) === wanted && length === 8) this.linkAddressAt = at + 2;
      at += length;
    }
    return true;
  }
}

/** Writes target and link address option behind the second word of the ICMP header. */
export const writeNeighbourBody = (
  { view, bytes }: Memory,
  at: number,
  message: { target: Int32Array; targetAt: number; mac: Uint8Array; isSolicitation: boolean },
): void => {
  writeAddress6(view, at, message.target, message.targetAt);
  bytes[at + 16] = message.isSolicitation ? option.sourceLinkAddress : option.targetLinkAddress;
  bytes[at + 17] = 1;
  copyMac(message.mac, 0, bytes, at + 18);
};

/** Words of the solicited-node multicast address ff02::1:ffxx:xxxx of an address. */
export const solicitedNode = (address: Int32Array, at: number, to: Int32Array, atTo: number): void => {
  to[atTo] = 0xff020000 | 0;
  to[atTo + 1] = 0;
  to[atTo + 2] = 1;
  to[atTo + 3] = 0xff000000 | ((address[at + 3] as number) & 0xffffff);
};

/** Writes the Ethernet address 33:33:… of an IPv6 multicast address. */
export const writeMulticastMac6 = (address: Int32Array, at: number, view: DataView, to: number): void => {
  view.setUint16(to, 0x3333);
  view.setInt32(to + 2, address[at + 3] as number);
};
