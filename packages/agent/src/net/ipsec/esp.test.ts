import { bytesOfHex, EspInbound, EspOutbound, espOffer, hexOfBytes, Memory } from '@rushhour/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapMemory } from '../kernel/memory.ts';
import { createEvpAead } from './evp-aead.ts';
import { aeadOf, createAead, createPacketCipher } from './packet-cipher.ts';

const specOf = (proposal: string) => {
  const [encryption] = espOffer(proposal).encryptions;
  const [integrity = 0] = espOffer(proposal).integrities;
  return { encryption: encryption?.id ?? 0, keyBits: encryption?.keyBits ?? 0, integrity };
};

const cipherOf = (proposal: string, key: string, integrityKey = '') =>
  createPacketCipher(specOf(proposal), { encryption: bytesOfHex(key), integrity: bytesOfHex(integrityKey) });

describe('ESP packets of the RFCs', () => {
  // RFC 7634, appendix A.
  const echo =
    '45000054a6f200004001e778c6336405c000020508005b7a3a080000553bec100007362708090a0b0c0d0e0f1011121314151617' +
    '18191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637';
  const sealed =
    '0102030400000005101112131415161724039428b97f417e3c13753a4f05087b67c352e6a7fab1b982d466ef407ae5c614ee8099d528' +
    '44eb61aa95dfab4c02f72aa71e7c4c4f64c9befe2facc638e8f3cbec163fac469b502773f6fb94e664da9165b82829f641e0' +
    '76aaa8266b7fb0f7b11b369907e1ad43';
  const key = '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3';

  it('ChaCha20-Poly1305 is opened', () => {
    const inbound = new EspInbound({ spi: 0x01020304, cipher: cipherOf('chacha20poly1305', key), hasEsn: false });
    const memory = new Memory(bytesOfHex(sealed));
    expect(inbound.open(memory, 0, memory.bytes.length)).toBe(true);
    expect(hexOfBytes(memory.bytes, inbound.start, inbound.end)).toBe(echo);
    expect(inbound.nextHeader).toBe(4);
  });

  // RFC 3602, case 5: an echo request in transport mode, without integrity.
  it('AES-CBC is opened', () => {
    const cipher = createPacketCipher(
      { encryption: 12, keyBits: 128, integrity: 0 },
      { encryption: bytesOfHex('90d382b410eeba7ad938c46cec1a82bf'), integrity: new Uint8Array(0) },
    );
    const inbound = new EspInbound({ spi: 0x4321, cipher, hasEsn: false });
    const memory = new Memory(
      bytesOfHex(
        '0000432100000001e96e8c08ab465763fd098d45dd3ff893f663c25d325c18c6a9453e194e120849a4870b66cc6b9965330013b4898dc856' +
          'a4699e523a55db080b59ec3a8e4b7e52775b07d1db34ed9c538ab50c551b874aa269add047ad2d5913ac19b7cfbad4a6',
      ),
    );
    expect(inbound.open(memory, 0, memory.bytes.length)).toBe(true);
    expect(hexOfBytes(memory.bytes, inbound.start, inbound.start + 16)).toBe('08000ebda70a00008e9c083db95b0700');
    expect(inbound.nextHeader).toBe(1);
  });
});

const pairOf = (proposal: string, hasEsn: boolean, window = 64) => {
  const key = { encryption: new Uint8Array(36).fill(7), integrity: new Uint8Array(64).fill(9) };
  const spec = specOf(proposal);
  const salt = spec.encryption === 12 || spec.encryption === 11 ? 0 : 4;
  const keys = { ...key, encryption: key.encryption.subarray(0, spec.keyBits / 8 + salt) };
  return {
    outbound: new EspOutbound({ spi: 500, cipher: createPacketCipher(spec, keys), hasEsn }),
    inbound: new EspInbound({ spi: 500, cipher: createPacketCipher(spec, keys), hasEsn, window }),
  };
};

const packetOf = (outbound: EspOutbound): Memory => {
  const memory = new Memory(new Uint8Array(200));
  const end = outbound.seal(memory, 64, 104, 4);
  return new Memory(memory.bytes.slice(64 - outbound.headBytes, end));
};

const copy = ({ bytes }: Memory) => new Memory(bytes.slice());

describe('anti-replay', () => {
  it('takes every packet once, in any order within the window', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.nat(63), { minLength: 1, maxLength: 100 }), (hasEsn, order) => {
        const { outbound, inbound } = pairOf('aes128gcm16', hasEsn);
        const packets = Array.from({ length: 64 }, () => packetOf(outbound));
        const seen = new Set<number>();
        for (const index of order) {
          const packet = copy(packets[index] as Memory);
          expect(inbound.open(packet, 0, packet.bytes.length)).toBe(!seen.has(index));
          seen.add(index);
        }
        expect(inbound.counters).toMatchObject({ packets: seen.size, replays: order.length - seen.size, forged: 0 });
      }),
      { numRuns: 40 },
    );
  });

  it('refuses what lies before the window', () => {
    const { outbound, inbound } = pairOf('aes128gcm16', false, 32);
    const packets = Array.from({ length: 40 }, () => packetOf(outbound));
    const open = (index: number) => inbound.open(packets[index] as Memory, 0, packets[index]?.bytes.length ?? 0);
    expect([open(39), open(7), open(8), open(38)]).toEqual([true, false, true, true]);
  });

  it.each(['aes128gcm16', 'aes128-sha256', 'aes256gmac', 'chacha20poly1305'])(
    'extended numbers of %s go past 32 bits and are authenticated',
    (proposal) => {
      const { outbound, inbound } = pairOf(proposal, true);
      outbound.sequence = 2 ** 32 - 3;
      const first = packetOf(outbound);
      // The receiver is far behind: it takes the number for one of the first 2^32.
      expect(inbound.open(first, 0, first.bytes.length)).toBe(true);
      for (let i = 0; i < 5; i++) {
        const packet = packetOf(outbound);
        expect(inbound.open(packet, 0, packet.bytes.length)).toBe(true);
      }
      expect(inbound.sequence).toBe(2 ** 32 + 3);
      const other = pairOf(proposal, true).inbound;
      const late = packetOf(outbound);
      expect(other.open(late, 0, late.bytes.length)).toBe(false);
      expect(other.counters.forged).toBe(1);
    },
  );

  it('stops when the numbers are used up', () => {
    const { outbound } = pairOf('aes128gcm16', false);
    outbound.sequence = 2 ** 32 - 1;
    expect(outbound.seal(new Memory(new Uint8Array(200)), 64, 104, 4)).toBe(-1);
  });

  it('a changed byte anywhere fails the check', () => {
    const { outbound, inbound } = pairOf('aes256-sha512', false);
    const packet = packetOf(outbound);
    for (let at = 4; at < packet.bytes.length; at++) {
      const forged = copy(packet);
      forged.bytes[at] = (forged.bytes[at] as number) ^ 1;
      expect(inbound.open(forged, 0, forged.bytes.length)).toBe(false);
    }
    expect(inbound.open(packet, 0, packet.bytes.length)).toBe(true);
  });

  it('short and random packets are refused', () => {
    const { inbound } = pairOf('aes128-sha1', false);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(bytes.length >= 8 && inbound.open(new Memory(bytes), 0, bytes.length)).toBe(false);
      }),
    );
  });
});

describe('OpenSSL called directly', () => {
  it.each(['aes128gcm8', 'aes192gcm12', 'aes256gcm16', 'chacha20poly1305'])(
    'and node:crypto open each other’s packets of %s',
    (proposal) => {
      const spec = specOf(proposal);
      const aead = aeadOf(spec);
      if (aead === undefined) throw new Error('not a cipher with its own integrity');
      const keys = { encryption: new Uint8Array(spec.keyBits / 8 + 4).fill(5), integrity: new Uint8Array(0) };
      const [direct, plain] = [createEvpAead(aead, keys), createAead(aead, keys)];
      if (direct === undefined) throw new Error('OpenSSL cannot be called');
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 2000 }), fc.constantFrom(-1, 0, 7), (text, high) => {
          for (const [one, other] of [
            [direct, plain],
            [plain, direct],
          ] as const) {
            const packet = new Uint8Array(8 + 8 + text.length + one.icvBytes);
            packet.set(text, 16);
            const range = { start: 0, ivAt: 8, textEnd: 16 + text.length, high };
            one.seal(packet, range);
            const forged = packet.slice();
            forged[packet.length - 1] = (forged[packet.length - 1] as number) ^ 1;
            expect(other.open(forged, range)).toBe(false);
            expect(other.open(packet, range)).toBe(true);
            expect(packet.subarray(16, 16 + text.length)).toEqual(text);
          }
        }),
        { numRuns: 50 },
      );
    },
  );

  it.each(['aes256gcm16', 'chacha20poly1305'])('%s works where the packet is, and nowhere beside it', (proposal) => {
    const spec = specOf(proposal);
    const keys = { encryption: new Uint8Array(spec.keyBits / 8 + 4).fill(5), integrity: new Uint8Array(0) };
    const [sealing, opening] = [createPacketCipher(spec, keys), createPacketCipher(spec, keys)];
    const memory = mapMemory({ length: 4096 });
    const { bytes } = memory;
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 2000 }),
        fc.nat(500),
        fc.constantFrom(-1, 0, 7),
        fc.boolean(),
        (text, at, high, isHeap) => {
          bytes.fill(0xee);
          const range = { start: at, ivAt: at + 8, textEnd: at + 16 + text.length, high };
          const end = range.textEnd + sealing.icvBytes;
          bytes.set(text, at + 16);
          sealing.seal(bytes, range);
          // What one memory holds is opened in another.
          const other = isHeap ? Uint8Array.from(bytes) : bytes;
          expect(opening.open(other, range)).toBe(true);
          expect(Uint8Array.from(other.subarray(at + 16, range.textEnd))).toEqual(text);
          const beside = [...bytes.subarray(0, at), ...bytes.subarray(end)];
          expect(beside.every((byte) => byte === 0xee)).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
    expect(() => sealing.seal(bytes, { start: 4000, ivAt: 4008, textEnd: 4090, high: -1 })).toThrow(RangeError);
    memory.release();
    expect(() => sealing.seal(bytes, { start: 0, ivAt: 8, textEnd: 90, high: -1 })).toThrow(RangeError);
  });
});
