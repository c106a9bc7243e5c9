import { Type } from 'typebox';
import { createBody } from '../../bodies.ts';
import { allRoute, crudRoutes } from '../../crud.ts';
import { Data, IdParams, Ids, ListQuery, ManyIds, Page } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id, NullableInteger, NullableTimestamp } from '../../scalars.ts';
import { Component, OneOf, optional, StrictObject } from '../../schema.ts';
import { Category, File, FileDraft, FileUpload, fileCategories, NewFile, Sha256, Source } from './file.ts';
import { PcapInfo, PcapQuery } from './pcap-info.ts';
import { FilePreview, PreviewQuery } from './preview.ts';

/** 10 MiB of content in base64 plus the other members. */
const bodyLimit = 14 * 1_048_576;
const bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const time = (description: string) => Type.String({ format: 'date-time', description });

const shared = { path: '/files', noun: 'file', item: File, permissions: 'files' } as const;

const crud = crudRoutes({
  ...shared,
  draft: FileDraft,
  query: ListQuery(['id', 'name', 'size', 'category', 'createdAt', 'updatedAt', 'first_seen_at'], {
    category: optional.array(Category, { maxItems: 9, description: 'Of one of these; may be repeated' }),
    tag: optional.array(Type.String({ maxLength: 64 }), {
      maxItems: 32,
      description: 'Has all of these; may be repeated',
    }),
    source: Type.Optional(Source),
    mime: optional.text(128),
    hash: optional.string({ pattern: '^[0-9a-fA-F]{32,96}$', description: 'Any of the five hashes, in hex' }),
    sizeMin: Type.Optional(bytes),
    sizeMax: Type.Optional(bytes),
    createdFrom: Type.Optional(time('Made at this time or later')),
    createdTo: Type.Optional(time('Made before this time')),
    syncReady: optional.flag(),
    issuerID: Type.Optional(Id),
    unused: optional.flag('Used by no other record'),
  }),
});
const Stored = Type.Object({
  data: Id,
  duplicate: Type.Boolean({ description: 'The content was stored already' }),
  files: optional.array(Id, { description: 'The files of an archive that was unpacked; `data` is the first' }),
});

const SyncState = Component('FileSyncState', {
  agentID: Id,
  agentName: Type.String(),
  state: OneOf(['pending', 'syncing', 'synced', 'stale', 'failed', 'absent']),
  bytes,
  sha256: Type.String(),
  updatedAt: NullableTimestamp,
  error: Type.String(),
});

export const files = collection({
  tag: 'files',
  title: 'Files',
  routes: {
    ...crud,
    all: allRoute(shared),
    get: {
      ...crud.get,
      query: Type.Object({
        include: optional.string({
          pattern: '^(references|derived|upload)(,(references|derived|upload))*$',
          description: 'Any of references, derived, upload, joined by commas',
        }),
      }),
    },
    create: route('POST /files', {
      summary: 'Store a file: as a form, as base64 in JSON, or by opening a resumable upload',
      access: 'files.write',
      body: createBody(NewFile, File),
      upload: FileUpload,
      bodyLimit,
      reply: Stored,
      errors: [409],
    }),
    content: route('PUT /files/:id/content', {
      summary:
        'Send the next bytes of a resumable upload; Content-Range says which, `bytes */TOTAL` asks how far it is',
      access: 'files.write',
      params: IdParams,
      chunk: true,
      headers: { request: { 'Content-Range': 'bytes FIRST-LAST/TOTAL of this body, or bytes */TOTAL without a body' } },
      reply: Data(Type.Object({ received: bytes, total: bytes, complete: Type.Boolean() })),
      errors: [404, 409, 410],
    }),
    removeMany: {
      ...crud.removeMany,
      query: Type.Object({
        force: optional.flag('Also delete files made from these that nobody uses'),
      }),
      body: ManyIds,
      reply: Ids,
    },
    download: route('GET /files/:id/download', {
      summary: 'The content, whole or a range of it',
      access: 'files.download',
      params: IdParams,
      query: Type.Object({
        inline: optional.flag('To be shown in place; only text, JSON and CSV are'),
      }),
      conditional: 'ranges',
      download: ['application/octet-stream', 'text/plain', 'text/csv', 'application/json'],
      errors: [404, 409],
    }),
    categories: route('GET /files/categories', {
      summary: 'Categories, what they take, and how much is stored',
      access: 'files.read',
      reply: Type.Object({
        data: Type.Array(
          Type.Object({
            category: OneOf(fileCategories),
            mimes: Type.Array(Type.String()),
            extensions: Type.Array(Type.String()),
            maxSize: bytes,
            count: Type.Integer(),
            bytes,
          }),
        ),
        totals: Type.Object({
          files: Type.Integer(),
          bytes,
          uniqueBytes: Type.Integer({ description: 'Equal contents counted once' }),
          quotaBytes: Type.Integer({ description: 'What can be stored at all: what is there and what is free' }),
        }),
      }),
    }),
    tags: route('GET /files/tags', {
      summary: 'Tags and how many files have them, most used first',
      access: 'files.read',
      query: Type.Object({
        category: Type.Optional(Category),
        search: optional.text(64, 'Part of a tag'),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
      }),
      reply: Data(Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() }))),
    }),
    check: route('POST /files/check', {
      summary: 'Which contents are stored already',
      access: 'files.read',
      body: StrictObject({
        array: Type.Array(
          StrictObject({
            ref: Type.String({ maxLength: 255, description: 'Comes back with the answer' }),
            sha256: Sha256,
            size: Type.Optional(bytes),
            category: Type.Optional(Category),
          }),
          { minItems: 1, maxItems: 1000 },
        ),
      }),
      reply: Data(
        Type.Array(
          Type.Object({
            ref: Type.String(),
            exists: Type.Boolean(),
            id: NullableInteger,
            sameCategory: Type.Boolean(),
          }),
        ),
      ),
    }),
    sync: route('POST /files/sync', {
      summary: 'Push files to agents',
      access: 'files.write',
      body: StrictObject({
        array: ManyIds.properties.array,
        agents: Type.Union([OneOf(['all']), Type.Array(Id, { minItems: 1, maxItems: 1000, uniqueItems: true })]),
        verify: optional.flag('Agents hash what they have, and not only what they get'),
      }),
      reply: Data(Type.Object({ jobID: Type.String(), pairs: Type.Integer(), bytes })),
      errors: [404, 409],
    }),
    syncState: route('GET /files/:id/sync', {
      summary: 'Which agents have the file',
      access: 'files.read',
      params: IdParams,
      query: Type.Object({ agentID: Type.Optional(Id) }),
      reply: Page(SyncState),
      errors: [404],
    }),
    pcap: route('GET /files/:id/pcap', {
      summary: 'What a capture holds: facts, sessions, steps and their payload',
      access: 'files.read',
      params: IdParams,
      query: PcapQuery,
      reply: Data(PcapInfo),
      errors: [404, 409],
    }),
    preview: route('GET /files/:id/preview', {
      summary: 'A bounded look at the content by its kind',
      access: 'files.read',
      params: IdParams,
      query: PreviewQuery,
      reply: Data(FilePreview),
      errors: [404, 409],
    }),
  },
});
