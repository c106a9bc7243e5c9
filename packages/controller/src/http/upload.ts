import type { Readable } from 'node:stream';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { invalid, tooMany } from '../errors.ts';

const maxUploads = 4;

/** At most a few uploads at once: each needs a hashing thread and the disk. */
export const createUploads = () => {
  let running = 0;
  return {
    async admit<T>(work: () => Promise<T>): Promise<T> {
      if (running >= maxUploads) throw tooMany('TOO_MANY_UPLOADS', `more than ${maxUploads} uploads at once`, 2);
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
      }
    },
  };
};

export type Uploads = ReturnType<typeof createUploads>;

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
    throw refuse(`the form cannot be read: ${(error as Error).message}`);
  }
  if (file === undefined || file.fieldname !== 'file') {
    file?.file.resume();
    throw refuse('the form must hold its text parts first and then one part named "file"');
  }
  return { fields, filename: file.filename, stream: file.file as Readable };
};
