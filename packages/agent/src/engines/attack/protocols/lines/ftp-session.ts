import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ServedSocket } from '../../../../net/secure-sockets.ts';
import { type LineConnection, type LineSession, nonceOfName } from './line-server.ts';

const waitMs = 10_000;

/** The data connection of a session in passive mode. */
class Passive {
  readonly #server: Server;
  readonly #connection: Promise<Socket>;

  constructor(server: Server) {
    this.#server = server;
    this.#connection = once(server, 'connection', { signal: AbortSignal.timeout(waitMs) }).then(([socket]) => {
      (socket as Socket).on('error', () => {});
      return socket as Socket;
    });
    this.#connection.catch(() => {});
  }

  static async open(host: string): Promise<Passive> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, host);
    await once(server, 'listening');
    return new Passive(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connection(): Promise<Socket> {
    return this.#connection;
  }

  close(): void {
    this.#server.close();
    this.#connection.then(
      (socket) => socket.destroy(),
      () => {},
    );
  }
}

const takeFile = async (connection: LineConnection, passive: Passive): Promise<string> => {
  connection.sendLine('150 go on');
  const socket = await passive.connection;
  const pieces: Buffer[] = [];
  connection.received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes);
    connection.received = Buffer.concat(pieces);
  });
  await once(socket, 'end', { signal: AbortSignal.timeout(waitMs) }).catch(() => {});
  const reply = `226 taken ${connection.proof}`;
  connection.sent = Buffer.from(reply);
  return reply;
};

const giveFile = async (connection: LineConnection, passive: Passive): Promise<string> => {
  connection.sendLine('150 here it comes');
  const socket = await passive.connection;
  connection.sent = Buffer.from(connection.content);
  socket.end(connection.content);
  await once(socket, 'finish', { signal: AbortSignal.timeout(waitMs) }).catch(() => {});
  return `226 done ${connection.proof}`;
};

const transfer = async (
  connection: LineConnection,
  passive: Passive | undefined,
  name: string,
  isUp: boolean,
): Promise<string> => {
  const { exchange } = connection;
  if (passive === undefined || exchange === undefined) return '425 no connection for the file';
  if (!isUp) connection.received = Buffer.from(name);
  try {
    return await (isUp ? takeFile : giveFile)(connection, passive);
  } catch {
    return '426 the connection for the file did not come';
  } finally {
    passive.close();
  }
};

/** A minimal FTP server. Only user names that are tokens can log in. */
export const createFtpSession = (socket: ServedSocket): LineSession => {
  let passive: Passive | undefined;
  return {
    greeting: '220 receiver.test',
    async onLine(line, connection) {
      const [verb = '', ...rest] = line.split(' ');
      const name = rest.join(' ');
      switch (verb.toUpperCase()) {
        case 'USER': {
          const nonce = nonceOfName(name);
          if (nonce === undefined) return connection.identify(name) ? '331 go on' : '331 go on, stranger';
          connection.skipReport();
          return `331 ${connection.proofFor(nonce)}`;
        }
        case 'PASS':
          return connection.attempt === undefined ? '530 no' : '230 welcome';
        case 'TYPE':
          return '200 ok';
        case 'EPSV':
          passive?.close();
          passive = await Passive.open(socket.localAddress ?? '::');
          return `229 come (|||${passive.port}|)`;
        case 'STOR':
        case 'RETR':
          return transfer(connection, passive, name, verb.toUpperCase() === 'STOR');
        case 'QUIT':
          socket.end();
          return '221 bye';
        default:
          return '502 not known here';
      }
    },
    onClose: () => passive?.close(),
  };
};
