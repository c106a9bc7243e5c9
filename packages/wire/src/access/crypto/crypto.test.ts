import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { md4, md5 } from '../../bytes/md5.ts';
import { bytesOfHex, hexOfBytes } from '../../bytes/memory.ts';
import { desEncrypt } from './des.ts';
import { msChapResponse, msChapSuccess } from './ms-chap.ts';
import { sha1 } from './sha1.ts';

const text = (value: string) => new TextEncoder().encode(value);

it('MD5 and SHA-1 are those of OpenSSL for any text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(hexOfBytes(md5(bytes))).toBe(createHash('md5').update(bytes).digest('hex'));
      expect(hexOfBytes(sha1(bytes))).toBe(createHash('sha1').update(bytes).digest('hex'));
    }),
  );
});

it.each([
  ['', '31d6cfe0d16ae931b73c59d7e0c089c0'],
  ['abc', 'a448017aaf21d8525fc10ae87aa6729d'],
  ['abcdefghijklmnopqrstuvwxyz', 'd79e1c308aa5bbcdeea8ed63df412da9'],
])('MD4 of "%s" is that of RFC 1320', (value, digest) => {
  expect(hexOfBytes(md4(text(value)))).toBe(digest);
});

it('DES is that of the standard', () => {
  const bits = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0'));
  const plain = bits(bytesOfHex('0123456789abcdef'))
    .map((byte) => byte.slice(0, 7))
    .join('');
  const packed = Uint8Array.from({ length: 7 }, (_, i) => Number.parseInt(plain.slice(i * 8, i * 8 + 8), 2));
  expect(hexOfBytes(desEncrypt(packed, text('Now is t')))).toBe('3fa40e8a984d4815');
});

it('MS-CHAPv2 is the example of RFC 2759', () => {
  const exchange = {
    authenticatorChallenge: bytesOfHex('5B5D7C7D7B3F2F3E3C2C602132262628'),
    peerChallenge: bytesOfHex('21402324255E262A28295F2B3A337C7E'),
    userName: 'User',
    password: 'clientPass',
  };
  const response = msChapResponse(exchange);
  expect(hexOfBytes(response).toUpperCase()).toBe('82309ECD8D708B5EA08FAA3981CD83544233114A3D85D6DF');
  expect(msChapSuccess(exchange, response)).toBe('S=407A5589115FD0D6209F510FE9C04566932CDA56');
});
