import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../../bytes/memory.ts';
import { parseAddress } from '../../../ip/address.ts';
import { SequenceCheck, sequenceOf, withTrailer } from './authentication.ts';
import { parseOspf, writeOspf } from './packet.ts';

const ends = { source: parseAddress('fe80::1'), destination: parseAddress('ff02::5') };
const { source } = ends;
const key = Buffer.concat([Buffer.from('secret'), Buffer.of(0, 1)]);
const signedWith = (secret: Buffer, keyId = 7) => ({
  ...({ kind: 'digest', keyId, length: 32, epoch: 0x65000000 } as const),
  digest: (packet: Uint8Array) => createHmac('sha256', secret).update(packet).digest(),
});
const write = () => {};
const packet = writeOspf({ type: 1, routerId: 0x02020202, areaId: 0 }, 0, { ends, write, hasTrailer: true });
const bytes = withTrailer(packet, signedWith(key), { source, sequence: 9 });

describe('authentication trailers of OSPF version 3', () => {
  it('are written byte for byte as RFC 7166 defines them', () => {
    const header = '03010010 02020202 00000000 0000 00 00';
    const trailer = '0001 0030 0000 0007 65000000 00000009';
    const filler = `fe800000 00000000 00000000 00000001 ${'878fe1f3'.repeat(4)}`;
    const plain = `${header} ${trailer}`.replaceAll(' ', '');
    const signed = Buffer.from(`${plain}${filler}`.replaceAll(' ', ''), 'hex');
    expect(hexOfBytes(bytes)).toBe(`${plain}${createHmac('sha256', key).update(signed).digest('hex')}`);
  });

  it('are accepted with the same key, number and source only', () => {
    const received = parseOspf(bytes, 0, ends, true);
    expect(received?.end).toBe(packet.length);
    expect(sequenceOf(bytes, packet.length, signedWith(key), source)).toBe(0x6500000000000009n);
    expect(sequenceOf(bytes, packet.length, signedWith(key, 8), source)).toBeUndefined();
    expect(sequenceOf(bytes, packet.length, signedWith(Buffer.from('other')), source)).toBeUndefined();
    expect(sequenceOf(bytes, packet.length, signedWith(key), parseAddress('fe80::2'))).toBeUndefined();
    expect(sequenceOf(packet, packet.length, signedWith(key), source)).toBeUndefined();
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice();
      changed[at] = (changed[at] as number) ^ 1;
      expect(sequenceOf(changed, packet.length, signedWith(key), source), `byte ${at}`).toBeUndefined();
    }
    // Without a key, packets with a trailer have no valid checksum.
    expect(parseOspf(bytes, 0, ends)).toBeUndefined();
  });

  it('are accepted once, until the neighbour is gone', () => {
    const check = new SequenceCheck();
    const tries: [number, number, bigint][] = [
      [1, 1, 5n],
      [1, 1, 5n],
      [1, 4, 5n],
      [2, 1, 5n],
      [1, 1, 6n],
      [1, 1, 4n],
    ];
    expect(tries.map((one) => check.accepts(...one))).toEqual([true, false, true, true, true, false]);
    check.forget(1);
    expect(check.accepts(1, 1, 4n)).toBe(true);
    expect(check.accepts(2, 1, 5n)).toBe(false);
  });
});
