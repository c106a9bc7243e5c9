import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, createSecureContext } from 'node:tls';
import { findClientHello, ja3Of, ja4Of } from '@rushhour/pcap';
import type { TlsFingerprint, TlsHello } from '@rushhour/protocol';

const versionName = { '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const;
/** Options of OpenSSL: SSL_OP_NO_EXTENDED_MASTER_SECRET, SSL_OP_NO_TICKET, SSL_OP_NO_ENCRYPT_THEN_MAC. */
const without = { extendedSecret: 1, ticket: 1 << 14, encryptThenMac: 1 << 19 } as const;

const optionsOf = (hello: TlsHello): ConnectionOptions => {
  const versions = hello.versions.toSorted() as TlsHello['versions'];
  const secureOptions = Object.entries(without)
    .filter(([name]) => !hello[name as keyof typeof without])
    .reduce((sum, [, bit]) => sum | bit, 0);
  return {
    secureContext: createSecureContext({
      minVersion: versionName[versions[0] as '1.2'],
      maxVersion: versionName[versions.at(-1) as '1.2'],
      ciphers: hello.ciphers,
      ecdhCurve: hello.groups,
      ...(hello.signatures !== undefined && { sigalgs: hello.signatures }),
      secureOptions,
    }),
    rejectUnauthorized: false,
    requestOCSP: hello.status,
    ...(hello.alpn.length > 0 && { ALPNProtocols: [...hello.alpn] }),
  };
};

const known = new Map<string, ConnectionOptions>();

/** Settings of connections that begin like this. */
export const helloOptions = (hello: TlsHello): ConnectionOptions => {
  const key = JSON.stringify(hello);
  const options = known.get(key) ?? optionsOf(hello);
  known.set(key, options);
  return options;
};

/** The fingerprints of the first message of a connection; undefined if it is none, or not whole. */
export const fingerprintIn = (bytes: Buffer): TlsFingerprint | 'incomplete' | undefined => {
  const hello = findClientHello(bytes, 0, bytes.length);
  return typeof hello === 'object' ? { ja3: ja3Of(hello), ja4: ja4Of(hello) } : hello;
};

const prints = new WeakMap<ConnectionOptions, Map<string, Promise<TlsFingerprint | undefined>>>();

/** The fingerprints of what such connections send first, from a handshake that leads nowhere. */
const madeBy = (options: ConnectionOptions, servername: string): Promise<TlsFingerprint | undefined> => {
  const { promise, resolve } = Promise.withResolvers<TlsFingerprint | undefined>();
  let sent = Buffer.alloc(0);
  const nowhere = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      sent = Buffer.concat([sent, bytes]);
      const found = fingerprintIn(sent);
      if (found !== 'incomplete') resolve(found);
      done();
    },
  });
  const socket = connect({ ...(servername !== '' && { servername }), ...options, socket: nowhere });
  socket.on('error', () => resolve(undefined));
  return promise.finally(() => {
    socket.destroy();
    nowhere.destroy();
  });
};

/** Computed once: nothing in it depends on the connection but whether a name is sent. */
export const fingerprintOf = (options: ConnectionOptions, serverName = ''): Promise<TlsFingerprint | undefined> => {
  const ofOptions = prints.get(options) ?? new Map<string, Promise<TlsFingerprint | undefined>>();
  prints.set(options, ofOptions);
  const key = serverName === '' && options.servername === undefined ? '' : 'name.test';
  const print = ofOptions.get(key) ?? madeBy(options, key);
  ofOptions.set(key, print);
  return print;
};
