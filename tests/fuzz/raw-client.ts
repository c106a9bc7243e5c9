import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
}

interface Waiting {
  resolve(answer: RawAnswer): void;
  reject(error: Error): void;
  isHead: boolean;
}

const timeoutMs = 60_000;

/** Writes HTTP/1.1 itself on one kept connection, so that a request may be any bytes. */
export const createRawClient = (host: string, port: number) => {
  let socket: Socket | undefined;
  let waiting: Waiting | undefined;
  let received: Buffer = Buffer.alloc(0);

  const settle = (answer: RawAnswer | Error) => {
    const { resolve, reject } = waiting ?? {};
    waiting = undefined;
    if (answer instanceof Error) reject?.(answer);
    else resolve?.(answer);
  };
  const drop = () => {
    socket?.destroy();
    socket = undefined;
    received = Buffer.alloc(0);
  };
  const onData = (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = parse(received, waiting?.isHead ?? false);
    if (answer === undefined) return;
    received = received.subarray(answer.length);
    const isOver = answer.headers.get('connection') === 'close' || answer.isStream || received.length > 0;
    if (isOver) drop();
    settle(answer);
  };
  const open = () => {
    const opened = connect(port, host);
    opened.setNoDelay(true).on('data', onData);
    const fail = (error: Error) => {
      if (opened !== socket) return;
      drop();
      settle(error);
    };
    opened.on('error', fail).on('close', () => fail(new Error('closed without an answer')));
    return opened;
  };

  return {
    send: (request: Buffer, isHead = false): Promise<RawAnswer> =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          drop();
          settle(new Error('no answer in time'));
        }, timeoutMs);
        const done =
          <T>(call: (value: T) => void) =>
          (value: T) => {
            clearTimeout(timer);
            call(value);
          };
        waiting = { resolve: done(resolve), reject: done(reject), isHead };
        socket ??= open();
        socket.write(request);
      }),
    close: drop,
  };
};

const parse = (bytes: Buffer, isHead: boolean) => {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (status === 100) return undefined;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const size = isHead || isStream ? 0 : Number(headers.get('content-length') ?? 0);
  const length = end + 4 + size;
  if (!isStream && bytes.length < length) return undefined;
  return { status, headers, body: bytes.subarray(end + 4, length).toString(), length, isStream };
};
