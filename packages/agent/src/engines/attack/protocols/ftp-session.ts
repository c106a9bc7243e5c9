import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type LineSession, nonceOfName, type Talk } from './line-server.ts';

const waitMs = 10_000;

/** The second connection of a session, which the client opens to where we listen for it. */
class Passive {
  readonly #server: Server;
  readonly #visit: Promise<Socket>;

  constructor(server: Server) {
    this.#server = server;
    this.#visit = once(server, 'connection', { signal: AbortSignal.timeout(waitMs) }).then(([socket]) => {
      (socket as Socket).on('error', () => {});
      return socket as Socket;
    });
    this.#visit.catch(() => {});
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

  get visit(): Promise<Socket> {
    return this.#visit;
  }

  close(): void {
    this.#server.close();
    this.#visit.then(
      (socket) => socket.destroy(),
      () => {},
    );
  }
}

const takeFile = async (talk: Talk, passive: Passive): Promise<string> => {
  talk.say('150 go on');
  const socket = await passive.visit;
  const pieces: Buffer[] = [];
  talk.received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes);
    talk.received = Buffer.concat(pieces);
  });
  await once(socket, 'end', { signal: AbortSignal.timeout(waitMs) }).catch(() => {});
  const reply = `226 taken ${talk.proof}`;
  talk.sent = Buffer.from(reply);
  return reply;
};

const giveFile = async (talk: Talk, passive: Passive): Promise<string> => {
  talk.say('150 here it comes');
  const socket = await passive.visit;
  talk.sent = Buffer.from(talk.content);
  socket.end(talk.content);
  await once(socket, 'finish', { signal: AbortSignal.timeout(waitMs) }).catch(() => {});
  return `226 done ${talk.proof}`;
};

const transfer = async (talk: Talk, passive: Passive | undefined, name: string, isUp: boolean): Promise<string> => {
  const { exchange } = talk;
  if (passive === undefined || exchange === undefined) return '425 no connection for the file';
  if (!isUp) talk.received = Buffer.from(name);
  try {
    return await (isUp ? takeFile : giveFile)(talk, passive);
  } catch {
    return '426 the connection for the file did not come';
  } finally {
    passive.close();
  }
};

/** A server that knows as much of FTP as a transfer needs. Everybody whose name is a token may sign in, nobody else. */
export const createFtpSession = (socket: Socket): LineSession => {
  let passive: Passive | undefined;
  return {
    greeting: '220 receiver.test',
    async onLine(line, talk) {
      const [verb = '', ...rest] = line.split(' ');
      const name = rest.join(' ');
      switch (verb.toUpperCase()) {
        case 'USER': {
          const nonce = nonceOfName(name);
          if (nonce === undefined) return talk.recognise(name) ? '331 go on' : '331 go on, stranger';
          talk.hush();
          return `331 ${talk.proofFor(nonce)}`;
        }
        case 'PASS':
          return talk.attempt === undefined ? '530 no' : '230 welcome';
        case 'TYPE':
          return '200 ok';
        case 'EPSV':
          passive?.close();
          passive = await Passive.open(socket.localAddress ?? '::');
          return `229 come (|||${passive.port}|)`;
        case 'STOR':
        case 'RETR':
          return transfer(talk, passive, name, verb.toUpperCase() === 'STOR');
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
