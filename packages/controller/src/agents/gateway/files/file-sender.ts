import { fileChunkBytes, fileFrame } from '@rushhour/protocol';
import type { Logger } from 'pino';
import { BlobError } from '../../../store/blobs/blob-error.ts';
import type { Blobs } from '../../../store/blobs/blobs.ts';
import type { Connection } from '../connection.ts';

interface Request {
  sha256: string;
  offset: number;
}

/** Files that are read at once, for all agents together; each holds a piece or two in memory. */
const maxTransfers = 32;
/** A connection that takes nothing for so long keeps others waiting. */
const stallMs = 30_000;

/** Sends contents to agents that ask for them, from where each left off, as fast as each takes them. */
export const createFileSender = (blobs: Pick<Blobs, 'read'>, log: Logger) => {
  const transfers = new Map<Connection, Map<string, AbortController>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  const enter = async () => {
    if (running < maxTransfers) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  /** Hands the slot to the next waiting transfer. */
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  const send = async (connection: Connection, { sha256, offset }: Request, signal: AbortSignal) => {
    await enter();
    try {
      if (signal.aborted) return;
      await sendContent(blobs, connection, { sha256, offset }, signal);
    } catch (error) {
      if (signal.aborted) return;
      const isGone = error instanceof BlobError && error.code === 'NOT_FOUND';
      if (!isGone) log.warn({ err: error, sha256, address: connection.address }, 'a file did not reach an agent');
      const reason = isGone ? 'there is no such content' : 'the content could not be sent';
      connection.send({ type: 'noFile', sha256, reason });
    } finally {
      leave();
    }
  };

  return {
    /** A second request for the same content takes the place of the first. */
    serve: (connection: Connection, request: Request) => {
      const own = transfers.get(connection) ?? new Map<string, AbortController>();
      transfers.set(connection, own);
      own.get(request.sha256)?.abort();
      const abort = new AbortController();
      own.set(request.sha256, abort);
      void send(connection, request, abort.signal).finally(() => {
        if (own.get(request.sha256) === abort) own.delete(request.sha256);
      });
    },
    stop: (connection: Connection) => {
      for (const abort of transfers.get(connection)?.values() ?? []) abort.abort();
      transfers.delete(connection);
    },
  };
};

const sendContent = async (
  blobs: Pick<Blobs, 'read'>,
  connection: Connection,
  { sha256, offset }: Request,
  signal: AbortSignal,
) => {
  const content = await blobs.read(sha256, { start: offset });
  let at = offset;
  try {
    for await (const piece of content as AsyncIterable<Buffer>) {
      for (let start = 0; start < piece.length; start += fileChunkBytes) {
        if (signal.aborted) return;
        const bytes = piece.subarray(start, start + fileChunkBytes);
        await inTime(connection.sendBytes(fileFrame(sha256, at, bytes)));
        at += bytes.length;
      }
    }
  } finally {
    content.destroy();
  }
};

const inTime = async (work: Promise<void>) => {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the connection takes no more')), stallMs);
  });
  try {
    await Promise.race([work, stalled]);
  } finally {
    clearTimeout(timer);
  }
};

export type FileSender = ReturnType<typeof createFileSender>;
