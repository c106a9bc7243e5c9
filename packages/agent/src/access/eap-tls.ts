import type { EapTls } from '@rushhour/wire';
import { TlsClientConnection } from '../net/openssl/tls-client-connection.ts';
import type { TlsContext } from '../net/openssl/tls-context.ts';
import { tlsPipes } from '../net/openssl/tls-pipes.ts';

const empty = Buffer.alloc(0);

/** TLS of one supplicant by OpenSSL; what would go to a socket is kept for messages of EAP. */
export const createEapTls = (context: TlsContext): EapTls => {
  let state: EapTls['state'] = 'handshake';
  let output: Buffer = empty;
  let plain: Buffer = empty;
  const connection = new TlsClientConnection(
    { pipes: tlsPipes(), context },
    { tickets: undefined, endpoint: '', prepare: () => {} },
  );
  const keep = (bytes: Uint8Array) => {
    output = Buffer.concat([output, bytes]);
  };
  const fail = () => {
    state = 'failed';
  };
  connection.inner = { write: ({ bytes }) => keep(bytes), writeCopy: keep, close: fail, reset: fail };
  connection.events = {
    onOpen: () => {
      state = 'open';
    },
    onData: ({ bytes, start, end }) => {
      plain = Buffer.concat([plain, bytes.subarray(start, end)]);
    },
    onClose: fail,
  };
  return {
    get state() {
      return state;
    },
    start: () => connection.onOpen(performance.now()),
    receive: (bytes) => {
      const copy = Buffer.from(bytes);
      connection.onData({ bytes: copy, start: 0, end: copy.length, now: performance.now() });
    },
    write: (bytes) => connection.write({ bytes, address: 0 }),
    takeOutput: () => {
      const taken = output;
      output = empty;
      return taken;
    },
    takePlain: () => {
      const taken = plain;
      plain = empty;
      return taken;
    },
    exportKey: (label, length) => connection.exportKey(label, length),
    close: () => connection.onClose(undefined, performance.now()),
  };
};
