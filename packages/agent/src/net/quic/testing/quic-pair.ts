import { createSelfSigned } from '../../tls/self-signed.ts';
import type { QuicConnection, QuicConnectionEvents } from '../quic.ts';
import { createQuicClient, type QuicClientOptions } from '../quic-client.ts';
import { createQuicServer, type QuicServerOptions } from '../quic-server.ts';

export const identity = createSelfSigned(['localhost', '127.0.0.1', '::1']);

const clientSettings = { versions: ['1.3'] as '1.3'[], alpn: [], verify: false, resumption: 'none' as const };
const serverSettings = {
  versions: ['1.3'] as '1.3'[],
  alpn: [],
  ...identity,
  requestClientCertificate: false,
  tickets: true,
};

export const createClient = (
  settings: Partial<QuicClientOptions['settings']> = {},
  options: Partial<QuicClientOptions> = {},
) => createQuicClient({ alpn: ['echo'], ...options, settings: { ...clientSettings, ...settings } });

/** A server that sends back whatever arrives. */
export const listenForEchoes = async (options: Partial<QuicServerOptions> = {}, host = '127.0.0.1') => {
  const closed: (string | undefined)[] = [];
  const server = createQuicServer({ alpn: ['echo'], sendsRetry: false, settings: serverSettings, ...options });
  const { port } = await server.listen({ host, port: 0, isShared: false }, () => ({
    onOpen() {},
    onStream: (stream) => ({
      onData: (bytes, start, end, isEnd) => stream.write(bytes.subarray(start, end), isEnd),
      onReset() {},
    }),
    onClose: (code) => void closed.push(code),
  }));
  return { port, closed, close: () => server.close() };
};

const rooms = new WeakMap<QuicConnection, (() => void)[]>();

/** Resolves when the peer allows another stream. */
const room = (connection: QuicConnection): Promise<void> =>
  new Promise((resolve) => rooms.set(connection, [...(rooms.get(connection) ?? []), resolve]));

/** Opens a connection; rejects with the code if it closes first. */
export const open = (
  client: ReturnType<typeof createQuicClient>,
  port: number,
  { address = '127.0.0.1', onClose }: { address?: string; onClose?: QuicConnectionEvents['onClose'] } = {},
): Promise<QuicConnection> =>
  new Promise((resolve, reject) => {
    const connection = client.connect(
      { address, port },
      {
        onOpen: () => resolve(connection),
        onStream: () => ({ onData() {}, onReset() {} }),
        onRoom: () => {
          const waiting = rooms.get(connection) ?? [];
          rooms.delete(connection);
          for (const go of waiting) go();
        },
        onClose: (code, now) => {
          onClose?.(code, now);
          reject(new Error(code ?? 'closed'));
        },
      },
    );
  });

/** Sends bytes on a new stream; resolves with what came back. */
export const echo = (connection: QuicConnection, bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const stream = connection.openStream(false, {
      onData(data, start, end, isEnd) {
        parts.push(Buffer.from(data.subarray(start, end)));
        if (isEnd) resolve(Buffer.concat(parts));
      },
      onReset: (code) => reject(new Error(`reset ${code}`)),
    });
    if (stream === undefined) resolve(room(connection).then(() => echo(connection, bytes)));
    else stream.write(bytes, true);
  });
