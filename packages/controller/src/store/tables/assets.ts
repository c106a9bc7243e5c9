import type { ApplicationParameter, ApplicationSession, CertificateDetails } from '@rushhour/contract';
import { type Column, flag, integer, json, maybeInteger, maybeText, text } from '../engine/column.ts';

const textOr = (cleared: string): Column<string, string> => ({ cleared });
const integerOr = (cleared: number): Column<number, number> => ({ cleared });

export const applications = {
  id: integer,
  name: text,
  description: text,
  tags: text,
  mode: textOr('stateful'),
  defaultSpeedMode: textOr('original'),
  clientIp: text,
  allowPerSessionSpeed: flag,
  followTimestamps: { ...flag, cleared: true } as Column<boolean, number>,
  lockParameters: flag,
  loop: flag,
  baseBps: integer,
  basePps: integer,
  defaultTimeout: integerOr(5000),
  defaultUsers: integerOr(1),
  timingGapThresholdMs: integerOr(500),
  pcapFileId: integer,
  trimmedPcapFileId: maybeInteger,
  pcapMd5: text,
  source: textOr('user') as Column<'user' | 'builtin', string>,
  issuerId: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

export type ParameterContent = Omit<ApplicationParameter, 'id' | 'applicationId'>;
export type SessionContent = Omit<ApplicationSession, 'id' | 'applicationId'>;

export const applicationParameters = {
  id: integer,
  applicationId: integer,
  position: integer,
  content: json<ParameterContent | null>(null),
};

export const applicationSessions = {
  id: integer,
  applicationId: integer,
  position: integer,
  protocol: text,
  content: json<SessionContent | null>(null),
};

/** What lists sort, filter and search by. */
export const certificates = {
  id: integer,
  name: text,
  /** Names, serial number and fingerprints, a line each. */
  keywords: text,
  keyType: text,
  isCa: flag,
  /** Empty for a certificate request. */
  notAfter: text,
  hasPrivate: flag,
  issuerCertificateID: maybeInteger,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** The rest, apart from it so that lists never read a private key. `private` is sealed, or empty for none. */
export const certificateContents = {
  id: integer,
  public: text,
  private: text,
  details: json<CertificateDetails | null>(null),
};

export const dictionaries = {
  id: integer,
  name: text,
  description: text,
  type: text,
  tags: text,
  selection: { cleared: 'sequential' } as Column<string, string>,
  columns: json<string[]>([]),
  config: json<Record<string, Record<string, unknown>>>({}),
  source: text as Column<'user' | 'builtin', string>,
  /** Rows of a table, values of a list or lines of the file. */
  rowCount: integer,
  issuerId: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** Rows and values in blocks of a fixed number, so that a page is read without the rest. */
export const dictionaryRows = { dictionaryID: integer, block: integer, rows: text };

/** Scripts of recordings for agents, by the hash of their bytes; the bytes are compiled from recording and parameters on demand. */
export const harScripts = { sha256: text, fileSha256: text, params: text, side: text, createdAt: text };

/**
 * `uploading` has no content yet; `analysing` is a capture whose sessions are not known yet; `failed` never will be
 * ready; `quarantined` is a sample that cannot be used.
 */
type FileState = 'uploading' | 'analysing' | 'ready' | 'failed' | 'quarantined';

/** A resumable upload: where its bytes are and what is to be checked once they are all there. */
interface UploadPlan {
  part: string;
  expectSha256: string;
  onDuplicate: 'reuse' | 'copy' | 'error';
}

/** Malware samples have the same columns. */
export const files = {
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

/** What is known of the captures among the contents, shared by all files with the same content. */
export const captures = { sha256: text, info: text };

/** Sessions in blocks of a fixed number, so that a page is read without the rest. */
export const captureSessions = { sha256: text, block: integer, sessions: text };
