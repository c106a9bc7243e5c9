import { invalid } from '../../../errors.ts';

/** Where a chunk of an upload belongs. `end` is the byte after its last. */
export interface ChunkPlace {
  readonly start: number;
  readonly end: number;
  readonly total: number;
}

/** Reads `bytes a-b/total` of an upload; the total must be known, for it was announced when the upload was opened. */
export const parseContentRange = (header: string | undefined): ChunkPlace => {
  const parts = /^\s*bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15})\s*$/i.exec(header ?? '');
  const [start, last, total] = (parts ?? []).slice(1).map(Number);
  if (start === undefined || last === undefined || total === undefined || last < start || last >= total) {
    const message = 'Content-Range must be bytes FIRST-LAST/TOTAL with FIRST ≤ LAST < TOTAL';
    throw invalid([{ path: '', code: 'BAD_CONTENT_RANGE', message }], 'BAD_CONTENT_RANGE');
  }
  return { start, end: last + 1, total };
};
