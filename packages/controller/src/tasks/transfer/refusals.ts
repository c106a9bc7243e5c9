import { ArchiveError } from '../../assets/archives/archive-error.ts';
import { ApiError, invalid, unavailable } from '../../errors.ts';
import { BlobError } from '../../store/blobs/blob-error.ts';

const explain = (error: unknown, path: string): unknown => {
  if (error instanceof ArchiveError) {
    return invalid([{ path, code: error.code, message: error.message }], error.code);
  }
  if (error instanceof BlobError && error.code === 'TOO_LARGE') {
    return new ApiError('tooLarge', 'FILE_TOO_LARGE', error.message, { limitBytes: error.data['limit'] });
  }
  if (error instanceof BlobError && error.code === 'NO_SPACE') return unavailable('NO_SPACE', error.message);
  return error;
};

/** Runs work on archives and storage; problems the caller can act on become issues at `path`. */
export const explained = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw explain(error, path);
  }
};
