import { describe, expect, test } from 'vitest';
import { findEspTransform, innerMtuOf, type TunnelMtuInput, tunnelTypes } from './tunnel-mtu.ts';

describe('the inner MTU of a tunnel', () => {
  test.each<[TunnelMtuInput, number]>([
    [{ type: 'gre' }, 1476],
    [{ type: 'gre', outerVersion: 6 }, 1456],
    [{ type: 'gre', params: { key: 7 } }, 1472],
    [{ type: 'gre', params: { key: 0, sequence: true, checksum: true } }, 1464],
    [{ type: 'gre', params: { ethernet: true } }, 1462],
    [{ type: 'ipip' }, 1480],
    [{ type: 'ipip', outerVersion: 6 }, 1460],
    [{ type: 'ipip', outerVersion: 6, params: { encapLimit: true } }, 1452],
    [{ type: 'vxlan' }, 1450],
    [{ type: 'vxlan', outerVersion: 6 }, 1430],
    [{ type: 'vxlan', params: { innerVlan: true } }, 1446],
    [{ type: 'geneve' }, 1450],
    [{ type: 'geneve', params: { optionBytes: 6 } }, 1442],
    [{ type: 'l2tpv3' }, 1446],
    [{ type: 'l2tpv3', params: { encapsulation: 'ip', l2Specific: false, cookieBytes: 8 } }, 1454],
    [{ type: 'gtpu' }, 1464],
    [{ type: 'gtpu', params: { optionBytes: 4 } }, 1456],
    [{ type: 'wireguard' }, 1440],
    [{ type: 'wireguard', outerVersion: 6 }, 1420],
    [{ type: 'mpls' }, 1496],
    [{ type: 'mpls', params: { labels: 3, controlWord: true, ethernet: true } }, 1470],
    [{ type: 'vxlan', outerMtu: 9000 }, 8950],
    [{ type: 'vxlan', outerMtu: 40 }, 0],
  ])('of %o is %i', (input, innerMtu) => {
    const mtu = innerMtuOf(input);
    expect(mtu.innerMtu).toBe(innerMtu);
    expect(mtu.overheadBytes).toBe(mtu.layers.reduce((sum, layer) => sum + layer.bytes, 0));
  });

  test.each([
    ['aes128-sha1', undefined, 4, 1438],
    ['aes256gcm16', undefined, 4, 1446],
    ['aes256gcm16', undefined, 6, 1426],
    ['chacha20poly1305', undefined, 4, 1446],
    ['3des-md5', undefined, 4, 1446],
    ['aes256gcm16', { natt: true }, 4, 1438],
    ['aes256gcm16', { mode: 'transport' }, 4, 1466],
  ] as const)('of ESP with %s %o over IPv%i is %i', (cipher, params, outerVersion, innerMtu) => {
    const mtu = innerMtuOf({ type: 'ipsec', outerVersion, params: { cipher, ...params } });
    expect(mtu.innerMtu).toBe(innerMtu);
    expect(mtu.layers.reduce((sum, layer) => sum + layer.bytes, 0)).toBe(mtu.overheadBytes);
  });

  test('of ESP is the largest packet that still fits, for every cipher', () => {
    for (const cipher of ['aes128-sha256', 'aes256gcm16', '3des-sha1', 'null-sha512', 'aes128ctr-sha1']) {
      const transform = findEspTransform(cipher);
      if (transform === undefined) throw new Error(cipher);
      const outerSize = (inner: number): number => {
        const padded = Math.ceil((inner + 2) / transform.alignBytes) * transform.alignBytes;
        return 20 + 8 + transform.ivBytes + padded + transform.icvBytes;
      };
      for (let outerMtu = 1280; outerMtu <= 1500; outerMtu++) {
        const { innerMtu } = innerMtuOf({ type: 'ipsec', outerMtu, params: { cipher } });
        expect(outerSize(innerMtu)).toBeLessThanOrEqual(outerMtu);
        expect(outerSize(innerMtu + 1)).toBeGreaterThan(outerMtu);
      }
    }
  });

  test('exists for every type', () => {
    for (const type of tunnelTypes) expect(innerMtuOf({ type }).innerMtu).toBeGreaterThan(1400);
  });
});

describe('ESP proposals', () => {
  test.each([
    ['aes128-sha256', 16, 16, 16],
    ['AES-256-CBC-HMAC-SHA1', 16, 16, 12],
    ['aes256-sha2_512', 16, 16, 32],
    ['aes256', 16, 16, 16],
    ['aes-128-gcm', 8, 4, 16],
    ['aes128gcm96', 8, 4, 12],
    ['aes256ccm8', 8, 4, 8],
    ['aes256gcm16-prfsha256-ecp256', 8, 4, 16],
    ['chacha20poly1305', 8, 4, 16],
    ['camellia192-sha384', 16, 16, 24],
    ['3des-sha1', 8, 8, 12],
    ['null-sha256', 0, 4, 16],
    ['aes128ctr-aesxcbc', 8, 4, 12],
  ])('%s has an IV of %i, aligns to %i and ends with %i bytes', (cipher, ivBytes, alignBytes, icvBytes) => {
    expect(findEspTransform(cipher)).toEqual({ ivBytes, alignBytes, icvBytes });
  });

  test('of unknown ciphers are refused', () => {
    expect(findEspTransform('rot13')).toBeUndefined();
    expect(() => innerMtuOf({ type: 'ipsec', params: { cipher: 'rot13' } })).toThrow(RangeError);
  });
});
