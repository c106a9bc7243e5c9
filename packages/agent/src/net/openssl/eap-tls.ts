import type { EapTls } from '@rushhour/wire';
import { TlsClientConnection } from './tls-client-connection.ts';
import { TlsContext } from './tls-context.ts';
import { tlsPipes } from './tls-pipes.ts';

const empty = Buffer.alloc(0);

/** What all clients of EAP with one certificate share. Servers have to come from the authority. */
export const createEapContext = (own: { certificate: string; privateKey: string; ca: string }): TlsContext => {
  const settings = {
    ...{ versions: ['1.2' as const, '1.3' as const], alpn: [], verify: true, ca: own.ca },
    resumption: 'none' as const,
  };
  return new TlsContext(settings, { alpn: [], identity: own, allowsLegacyServers: true }, false);
};

/** TLS of one client of EAP by OpenSSL; what would go to a socket is kept for messages of EAP. */
class OpensslEapTls implements EapTls {
  state: EapTls['state'] = 'handshake';
  cause: string | undefined;
  readonly #connection: TlsClientConnection;
  #output: Buffer = empty;
  #plain: Buffer = empty;
  #isClosed = false;

  constructor(context: TlsContext) {
    const connection = new TlsClientConnection(
      { pipes: tlsPipes(), context },
      { tickets: undefined, endpoint: '', prepare: () => {} },
    );
    this.#connection = connection;
    const keep = (bytes: Uint8Array) => {
      this.#output = Buffer.concat([this.#output, bytes]);
    };
    const fail = () => {
      this.state = 'failed';
    };
    connection.inner = { write: ({ bytes }) => keep(bytes), writeCopy: keep, close: fail, reset: fail };
    connection.events = {
      onOpen: () => {
        this.state = 'open';
      },
      onData: ({ bytes, start, end }) => {
        this.#plain = Buffer.concat([this.#plain, bytes.subarray(start, end)]);
      },
      onClose: (code) => {
        fail();
        this.cause ??= code;
      },
    };
  }

  get version(): EapTls['version'] {
    return this.#connection.handshake().version === '1.3' ? '1.3' : '1.2';
  }

  start(): void {
    this.#connection.onOpen(performance.now());
  }

  receive(bytes: Uint8Array): void {
    const copy = Buffer.from(bytes);
    this.#connection.onData({ bytes: copy, start: 0, end: copy.length, now: performance.now() });
  }

  write(bytes: Uint8Array): void {
    this.#connection.write({ bytes, address: 0 });
  }

  takeOutput(): Uint8Array {
    const taken = this.#output;
    this.#output = empty;
    return taken;
  }

  takePlain(): Uint8Array {
    const taken = this.#plain;
    this.#plain = empty;
    return taken;
  }

  exportKey(label: string, length: number, context?: Uint8Array): Uint8Array {
    return this.#connection.exportKey(label, length, context);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.onClose(undefined, performance.now());
  }
}

export const createEapTls = (context: TlsContext): EapTls => new OpensslEapTls(context);
