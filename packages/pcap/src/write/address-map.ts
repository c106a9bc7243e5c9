import { latin1, putU16, putU32, u8, u16 } from '../bytes.ts';
import { PcapError } from '../pcap-error.ts';

const MAX_ADDRESSES = 1_000_000;
const HOSTS_PER_NET = 254;

/** Replaces addresses by generated ones, consistently; special addresses are kept. */
export class AddressMap {
  readonly #known = new Map<string, Uint8Array>();
  #ipv4 = 0;
  #ipv6 = 0;
  #macs = 0;

  /** The new form of the 4 or 16 address bytes at `at`: 10.0.0.0/8, 2001:db8::/32 or, for link-local ones, fe80::/64. */
  ip(bytes: Uint8Array, at: number, count: 4 | 16): Uint8Array {
    const address = bytes.slice(at, at + count);
    return count === 4 ? this.#mapIpv4(address) : this.#mapIpv6(address);
  }

  /** The new form of the six bytes at `at`, a locally administered address; groups and zero stay. */
  mac(bytes: Uint8Array, at: number): Uint8Array {
    const address = bytes.slice(at, at + 6);
    if ((u8(address, 0) & 1) === 1 || address.every((byte) => byte === 0)) return address;
    return this.#remembered(address, () => {
      const fresh = Uint8Array.of(2, 0, 0, 0, 0, 0);
      putU32(fresh, 2, ++this.#macs);
      return fresh;
    });
  }

  #mapIpv4(address: Uint8Array): Uint8Array {
    const first = u8(address, 0);
    // "This" network, loopback, multicast, reserved and broadcast name no host.
    if (first === 0 || first === 127 || first >= 224) return address;
    return this.#remembered(address, () => {
      const number = this.#ipv4++;
      const fresh = Uint8Array.of(10, 0, 0, 1 + (number % HOSTS_PER_NET));
      putU16(fresh, 1, Math.floor(number / HOSTS_PER_NET));
      return fresh;
    });
  }

  #mapIpv6(address: Uint8Array): Uint8Array {
    const isShort = address.subarray(0, 10).every((byte) => byte === 0);
    if (
      u8(address, 0) === 0xff ||
      (isShort && u16(address, 10) === 0 && address.subarray(12, 15).every((b) => b === 0))
    ) {
      return address;
    }
    if (isShort && u16(address, 10) === 0xffff) {
      const mapped = address.slice();
      mapped.set(this.#mapIpv4(address.slice(12)), 12);
      return mapped;
    }
    const isLinkLocal = (u16(address, 0) & 0xffc0) === 0xfe80;
    return this.#remembered(address, () => {
      const fresh = new Uint8Array(16);
      fresh.set(isLinkLocal ? [0xfe, 0x80] : [0x20, 0x01, 0x0d, 0xb8]);
      putU32(fresh, 12, ++this.#ipv6);
      return fresh;
    });
  }

  #remembered(address: Uint8Array, create: () => Uint8Array): Uint8Array {
    const key = latin1(address, 0, address.length);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_ADDRESSES) {
      throw new PcapError('TOO_MANY_ADDRESSES', `The capture holds more than ${MAX_ADDRESSES} addresses to anonymise.`);
    }
    const fresh = create();
    this.#known.set(key, fresh);
    return fresh;
  }
}
