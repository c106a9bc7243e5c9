import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { type JobOptions, runJob, startJob } from '../job.ts';

/** All socket implementations; each must give the same results. */
export const dataPaths = ['io_uring', 'epoll', 'node'] as const;
export type Path = (typeof dataPaths)[number];

const servers = new Set<Server>();
const sockets = new Set<Socket>();

/** A server for one test, closed after it. */
export const serve = async (onSocket: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> => {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    onSocket(socket);
  });
  servers.add(server);
  server.listen({ port: 0, host, backlog: 4096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

export const closeServersAfterEach = (): void => {
  afterEach(() => {
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
    servers.clear();
    sockets.clear();
  });
};

/** Calls `answer` for each request without a body. */
export const onRequests = (socket: Socket, answer: (count: number) => void): void => {
  let text = '';
  let count = 0;
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      text = text.slice(end + 4);
      answer(++count);
    }
  });
  socket.on('end', () => socket.end());
};

export const okAnswer = (body: string, headers = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

const httpJob = (dataPath: Path, port: number, more: object, duration: JobOptions['duration']): JobOptions => ({
  engine: 'http',
  config: {
    role: 'client',
    targets: [{ host: '127.0.0.1', port }],
    connections: 4,
    timeoutMs: 3000,
    dataPath,
    ...more,
  },
  ...(duration && { duration }),
});

export interface HttpDrive {
  readonly dataPath: Path;
  readonly port: number;
  readonly more?: object;
}

/** Runs for a number of requests or seconds. */
export const drive = ({ dataPath, port, more = {} }: HttpDrive, amount: { count: number } | { seconds: number }) =>
  runJob(httpJob(dataPath, port, more, 'count' in amount ? { mode: 'count', ...amount } : { mode: 'time', ...amount }));

export const startDrive = ({ dataPath, port, more = {} }: HttpDrive) =>
  startJob(httpJob(dataPath, port, more, { mode: 'continuous' }));
