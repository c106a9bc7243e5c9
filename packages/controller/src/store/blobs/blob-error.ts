export type BlobErrorCode =
  | 'TOO_LARGE'
  | 'NO_SPACE'
  | 'NOT_FOUND'
  | 'OFFSET_MISMATCH'
  | 'PART_BUSY'
  | 'PART_UNKNOWN'
  | 'CORRUPT';

/** A storage failure that can be reported to the API client; `data` holds `limit`, `received` or `sha256`. */
export class BlobError extends Error {
  override readonly name = 'BlobError';
  readonly code: BlobErrorCode;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: BlobErrorCode, message: string, data: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }
}

/** Translates a full disk into NO_SPACE; every other failure passes unchanged. */
export const explainDiskError = (error: unknown): unknown => {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new BlobError('NO_SPACE', 'no space left for uploads', {}, { cause: error });
};
