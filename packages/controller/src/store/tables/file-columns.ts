import { type Column, integer, json, maybeInteger, maybeText, text } from '../engine/column.ts';

/**
 * `uploading` has no content yet; `analysing` is a capture whose sessions are not known yet; `failed` never will be
 * ready; `quarantined` is a sample that nobody may use.
 */
export type FileState = 'uploading' | 'analysing' | 'ready' | 'failed' | 'quarantined';

/** A resumable upload: where its bytes are and what is to be checked once they are all there. */
export interface UploadPlan {
  part: string;
  expectSha256: string;
  onDuplicate: 'reuse' | 'copy' | 'error';
}

/** Of a file; a sample has them too. */
export const fileColumns = {
  id: integer,
  name: text,
  category: text as Column<string, string>,
  /** What the content is, as previews tell it apart. */
  kind: text,
  mime: text,
  size: integer,
  md5: text,
  sha1: text,
  sha256: text,
  sha3_384: text,
  original_sha256: text,
  source: { cleared: 'upload' } as Column<string, string>,
  tags: text,
  state: text as Column<FileState, string>,
  problem: text,
  first_seen_at: text,
  upload: json<UploadPlan | null>(null),
  /** Of the upload under way. */
  expiresAt: maybeText,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};
