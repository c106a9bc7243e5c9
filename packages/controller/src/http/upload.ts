import type { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { ApiError, invalid, tooMany } from '../errors.ts';

const maxUploads = 12;
const maxUploadsOfUser = 4;

/** A client that sends less than this in this time, while its bytes are waited for, is too slow. */
const defaultPace = { windowMs: 30_000, minBytes: 32 * 1024 };

/** At most a few uploads at once, of all users and of each: each needs a hashing thread and the disk. */
export const createUploads = (pace = defaultPace) => {
  const running: number[] = [];
  return {
    /** Runs work that reads the request body, and aborts it when the client disconnects or stalls. */
    async admit<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
      const { userId } = request.caller;
      const own = running.filter((one) => one === userId).length;
      const limit = running.length >= maxUploads ? maxUploads : maxUploadsOfUser;
      if (running.length >= maxUploads || own >= maxUploadsOfUser)
        throw tooMany('TOO_MANY_UPLOADS', `more than ${limit} uploads at once`, 2);
      running.push(userId);
      const stopWatching = [endWhenSlow(request, pace), freeAsItComes(request)];
      try {
        return await work();
      } catch (error) {
        throw request.socket.destroyed ? broken() : error;
      } finally {
        for (const stop of stopWatching) stop();
        running.splice(running.indexOf(userId), 1);
        // Drains the unread rest, so that the response can be sent.
        request.raw.resume();
      }
    },
  };
};

export type Uploads = ReturnType<typeof createUploads>;

const broken = () => invalid([{ path: '', code: 'ABORTED', message: 'the body ended too early' }]);

/** Ends the connection of a client that is slower than the pace. Time in which the controller itself is busy is free. */
const endWhenSlow = ({ raw, socket }: FastifyRequest, { windowMs, minBytes }: typeof defaultPace) => {
  let [seenBytes, seenAt] = [socket.bytesRead, Date.now()];
  const timer = setInterval(() => {
    const isWaiting = !raw.complete && raw.readableLength === 0;
    if (!isWaiting || socket.bytesRead - seenBytes >= minBytes) [seenBytes, seenAt] = [socket.bytesRead, Date.now()];
    else if (Date.now() - seenAt > windowMs) socket.destroy();
  }, windowMs / 6);
  return () => clearInterval(timer);
};

const freeEveryBytes = 16 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect: (options: { type: 'minor' }) => void = runInNewContext('gc');

/**
 * Bytes from a socket are outside the heap, so V8 lets many megabytes of them accumulate before it collects
 * garbage. Collecting more often costs a millisecond or two and keeps memory flat.
 */
const freeAsItComes = ({ socket }: FastifyRequest) => {
  let freedAt = socket.bytesRead;
  const timer = setInterval(() => {
    if (socket.bytesRead - freedAt < freeEveryBytes) return;
    freedAt = socket.bytesRead;
    collect({ type: 'minor' });
  }, 20);
  return () => clearInterval(timer);
};

const unreadable = ({ message }: Error) => `the form cannot be read: ${message}`;

const refuse = (message: string) => invalid([{ path: '/file', code: 'BAD_UPLOAD', message }]);

/** Reads a multipart body up to its file part: the text parts must come first, so that the file can be streamed. */
export const openUpload = async (request: FastifyRequest) => {
  const fields: Record<string, unknown> = {};
  let file: MultipartFile | undefined;
  const parts = request.parts({
    limits: { fields: 50, fieldSize: 64 * 1024, files: 1, fileSize: Number.POSITIVE_INFINITY },
  });
  try {
    for (;;) {
      const { done, value: part } = await parts.next();
      if (done) break;
      if (part.type === 'file') {
        file = part;
        break;
      }
      fields[part.fieldname] = part.value;
    }
  } catch (error) {
    throw refuse(unreadable(error as Error));
  }
  if (file === undefined || file.fieldname !== 'file') {
    file?.file.resume();
    throw refuse('the form must hold its text parts first and then one part named "file"');
  }
  const stream = file.file as Readable;
  return {
    ...{ fields, filename: file.filename, stream },
    /** The refusal of a form that ends inside its file; otherwise the error itself. */
    explain: (error: unknown) =>
      error instanceof ApiError || !stream.errored ? error : refuse(unreadable(stream.errored)),
  };
};
