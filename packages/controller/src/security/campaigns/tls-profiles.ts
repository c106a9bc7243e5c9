import type { tlsProfiles } from '@rushhour/contract';
import type { TlsHello } from '@rushhour/protocol';

type Profile = (typeof tlsProfiles)[number];

const both: TlsHello['versions'] = ['1.2', '1.3'];
const listOf = (...names: readonly (readonly string[])[]) => names.flat().join(':');
const suites13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const gcm = (bits: 128 | 256) =>
  ['ECDSA', 'RSA'].map((key) => `ECDHE-${key}-AES${bits}-GCM-SHA${bits === 128 ? 256 : 384}`);
const chacha = ['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'];
const common = { ticket: true, encryptThenMac: false, extendedSecret: true, status: true } as const;

/** Offers of the kind that common clients make; each has something for a server with a key of either kind. */
const hellos: Readonly<Record<Exclude<Profile, 'default'>, TlsHello>> = {
  browser: {
    versions: both,
    ciphers: listOf(
      ...[suites13, gcm(128), gcm(256), chacha],
      ['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA', 'AES128-GCM-SHA256', 'AES256-GCM-SHA384'],
      ['AES128-SHA', 'AES256-SHA'],
    ),
    groups: 'X25519:P-256:P-384',
    signatures: listOf(
      ['ECDSA+SHA256', 'RSA-PSS+SHA256', 'RSA+SHA256', 'ECDSA+SHA384', 'RSA-PSS+SHA384', 'RSA+SHA384'],
      ['RSA-PSS+SHA512', 'RSA+SHA512'],
    ),
    alpn: ['h2', 'http/1.1'],
    ...common,
  },
  windows: {
    versions: ['1.2'],
    ciphers: listOf(
      ['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
      ['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES128-GCM-SHA256'],
      ['ECDHE-ECDSA-AES256-SHA384', 'ECDHE-ECDSA-AES128-SHA256', 'ECDHE-RSA-AES256-SHA384', 'ECDHE-RSA-AES128-SHA256'],
      ['ECDHE-ECDSA-AES256-SHA', 'ECDHE-ECDSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA', 'ECDHE-RSA-AES128-SHA'],
      ['AES256-GCM-SHA384', 'AES128-GCM-SHA256', 'AES256-SHA256', 'AES128-SHA256', 'AES256-SHA', 'AES128-SHA'],
    ),
    groups: 'X25519:P-256:P-384',
    signatures: 'RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:ECDSA+SHA256:ECDSA+SHA384',
    alpn: [],
    ...common,
  },
  go: {
    versions: both,
    ciphers: listOf(...[suites13, gcm(128), gcm(256), chacha], [
      'ECDHE-ECDSA-AES128-SHA',
      'ECDHE-RSA-AES128-SHA',
      'ECDHE-ECDSA-AES256-SHA',
      'ECDHE-RSA-AES256-SHA',
    ]),
    groups: 'X25519:P-256:P-384:P-521',
    signatures: listOf(
      ['RSA-PSS+SHA256', 'ECDSA+SHA256', 'ed25519', 'RSA-PSS+SHA384', 'RSA-PSS+SHA512'],
      ['RSA+SHA256', 'RSA+SHA384', 'RSA+SHA512', 'ECDSA+SHA384', 'ECDSA+SHA512'],
    ),
    alpn: ['http/1.1'],
    ...common,
  },
  java: {
    versions: both,
    ciphers: listOf(
      ['TLS_AES_256_GCM_SHA384', 'TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
      ...[gcm(256), gcm(128), chacha],
      ['DHE-RSA-AES256-GCM-SHA384', 'DHE-RSA-CHACHA20-POLY1305', 'DHE-RSA-AES128-GCM-SHA256'],
    ),
    groups: 'X25519:P-256:P-384:P-521:X448',
    alpn: [],
    ...common,
  },
  'old-implant': {
    versions: ['1.2'],
    ciphers: listOf(
      ['ECDHE-ECDSA-AES256-SHA', 'ECDHE-ECDSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA', 'ECDHE-RSA-AES128-SHA'],
      ['AES256-SHA', 'AES128-SHA'],
    ),
    groups: 'P-256',
    signatures: 'ECDSA+SHA256:RSA+SHA256',
    alpn: [],
    ...{ ticket: false, encryptThenMac: false, extendedSecret: false, status: false },
  },
};

/** What a client of this kind offers; undefined for that of the agent itself. */
export const helloOf = (profile: Profile | undefined): TlsHello | undefined =>
  profile === undefined || profile === 'default' ? undefined : hellos[profile];
