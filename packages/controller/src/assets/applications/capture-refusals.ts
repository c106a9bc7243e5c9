import { ApiError, invalid, unavailable } from '../../errors.ts';
import { BlobError } from '../../store/blobs/blob-error.ts';
import { ArchiveError } from '../archives/archive-error.ts';
import { CaptureFailure } from './captures/run-capture-task.ts';

const pathOf: Readonly<Record<string, string>> = {
  NOT_A_PCAP: '/pcapFileId',
  CORRUPT_CAPTURE: '/pcapFileId',
  CAPTURE_TOO_LARGE: '/options/sessionIdx',
  PAYLOAD_LIMIT: '/options/sessionIdx',
  BAD_ADDRESS: '/clientIp',
  BAD_PATTERN: '/options/find',
  PATTERN_TOO_SLOW: '/options/find',
  NO_SUCH_SESSION: '/keepSessions',
  BAD_RANGE: '/packets',
};

const explain = (error: unknown): unknown => {
  if (error instanceof CaptureFailure) {
    return invalid([{ path: pathOf[error.code] ?? '', code: error.code, message: error.message }], error.code);
  }
  if (error instanceof ArchiveError) {
    return invalid([{ path: '/file', code: error.code, message: error.message }], error.code);
  }
  if (error instanceof BlobError && error.code === 'TOO_LARGE') {
    return new ApiError('tooLarge', 'FILE_TOO_LARGE', error.message, { limitBytes: error.data['limit'] });
  }
  if (error instanceof BlobError && error.code === 'NO_SPACE') return unavailable('NO_SPACE', error.message);
  return error;
};

/** Runs work on captures, archives or storage; what the caller can act on becomes an answer. */
export const explained = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw explain(error);
  }
};
