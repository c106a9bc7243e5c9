import { PcapError } from '@rushhour/pcap';
import { ApiError, conflict, forbidden, invalid, unavailable } from '../../errors.ts';
import type { FileRow } from '../../store/assets/files.ts';
import { BlobError } from '../../store/blobs/blob-error.ts';
import { ArchiveError } from '../archives/archive-error.ts';

const refuse = (path: string, code: string, message: string) => invalid([{ path, code, message }], code);

const ofStorage = (error: BlobError) => {
  const { code, message, data } = error;
  if (code === 'TOO_LARGE') return new ApiError('tooLarge', 'FILE_TOO_LARGE', message, { limitBytes: data['limit'] });
  if (code === 'NO_SPACE') return unavailable('NO_SPACE', message);
  if (code === 'OFFSET_MISMATCH') return conflict(code, message, { received: data['received'] });
  if (code === 'PART_BUSY') return conflict('UPLOAD_BUSY', message);
  if (code === 'PART_UNKNOWN') return new ApiError('gone', 'UPLOAD_EXPIRED', message);
  return error;
};

/** Turns failures that the client can act on into API errors; other errors stay bugs. */
const explain = (error: unknown): unknown => {
  if (error instanceof BlobError) return ofStorage(error);
  if (error instanceof ArchiveError) return refuse('/file', error.code, error.message);
  if (error instanceof PcapError) return refuse('', error.code, error.message);
  return error;
};

/** Runs work on storage, archives or captures and explains its failures. */
export const explained = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw explain(error);
  }
};

export const assertNotMalware = ({ category }: { category: string }) => {
  if (category !== 'malware') return;
  throw forbidden('MALWARE_CATEGORY', 'samples of malware are handled by the malware collection');
};

/** Refuses access to malware and to incomplete content. */
export const assertReadable = (file: FileRow) => {
  assertNotMalware(file);
  if (file.state === 'uploading')
    throw conflict('NOT_READY', 'the upload of this file is not complete', { id: file.id });
};
