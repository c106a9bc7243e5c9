import { type Static, Type } from 'typebox';
import { Id, Tags, Timestamp } from '../../scalars.ts';
import { Component, OneOf, optional, StrictObject } from '../../schema.ts';
import { authored } from '../users.ts';

export const fileCategories = [
  'pcap',
  'har',
  'payload',
  'malware',
  'csv',
  'capture',
  'archive',
  'signature',
  'other',
] as const;
const sources = ['upload', 'import', 'generated', 'trimmed', 'task', 'builtin'] as const;

export const Category = OneOf(fileCategories, {
  description: 'What the content is; it is checked against the content',
});
export const Source = OneOf(sources, { description: 'Where the content came from' });
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in lower-case hex' });

const FileName = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'Need not be unique',
});

const described = {
  tags: Type.Optional(Tags),
  source: optional.oneOf(sources, { description: 'Where the content came from; `upload` unless said' }),
  first_seen_at: optional.described(Timestamp, 'When the content was first known; now unless said'),
};

const uploadOptions = {
  expectSha256: Type.Optional(
    Type.Unsafe<string>({ ...Sha256, description: 'Refuse content that has another SHA-256' }),
  ),
  onDuplicate: optional.oneOf(['reuse', 'copy', 'error'], {
    description:
      'When the content is stored already: answer the file of the same category (the default), make another record of the same content, or refuse',
  }),
  unpack: optional.flag('The content is a zip, tar or gzip: keep its members, each a file, and not itself'),
  tagsFromName: optional.flag('Add the words of the name as tags'),
};

/** The editable members of a file. */
export const FileDraft = Type.Object({ name: FileName, category: Category, ...described });

/** The text parts of an upload, which come before its `file` part. */
export const FileUpload = StrictObject({
  category: Category,
  name: Type.Optional(FileName),
  ...described,
  ...uploadOptions,
});
export type FileUpload = Static<typeof FileUpload>;

export const NewFile = Type.Object({
  name: FileName,
  category: Category,
  ...described,
  ...uploadOptions,
  content: optional.string({ description: 'The content in base64, at most 10 MiB of it' }),
  size: optional.integer([0, Number.MAX_SAFE_INTEGER], 'Without `content`: opens a resumable upload of so many bytes'),
  sha256: optional.string({ pattern: '^([0-9a-f]{64})?$', description: 'What the SHA-256 of the content will be' }),
});
export type NewFile = Static<typeof NewFile>;

const Reference = Component('FileReference', { kind: Type.String(), id: Id, name: Type.String() });
const hash = (name: string) =>
  Type.String({ description: `${name} in lower-case hex; empty until the content is complete` });

export const File = Component('File', {
  id: Id,
  name: Type.String(),
  category: Category,
  mime: Type.String({ description: 'Told by the content, never by the client' }),
  size: Type.Integer({ description: 'Bytes; of an upload under way the announced ones' }),
  md5: hash('MD5'),
  sha1: hash('SHA-1'),
  sha256: hash('SHA-256'),
  sha3_384: hash('SHA3-384'),
  original_sha256: Type.String({
    description:
      'SHA-256 of the bytes as first received: of the archive the file was in, of the capture it was trimmed from, else the same as `sha256`',
  }),
  source: Source,
  tags: Type.String(),
  syncReady: Type.Boolean({ description: 'Complete, hashed and analysed: tasks may use it' }),
  problem: optional.string({ description: 'Why the file will not become ready' }),
  first_seen_at: Timestamp,
  ...authored,
  references: optional.array(Reference, { description: 'Records that use the file; on request' }),
  derived: optional.array(Id, { description: 'Files made from this one; on request' }),
  upload: Type.Optional(
    Type.Union([Type.Object({ received: Type.Integer(), total: Type.Integer(), expiresAt: Timestamp }), Type.Null()], {
      description: 'The upload under way, else null; on request',
    }),
  ),
});
export type File = Static<typeof File>;
