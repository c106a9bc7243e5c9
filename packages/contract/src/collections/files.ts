import { Type } from 'typebox';
import { createBody } from '../bodies.ts';
import { allRoute, crudRoutes } from '../crud.ts';
import { Data, IdParams, Ids, ListQuery, ManyIds, OneOf, Page } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id, MaybeTimestamp } from '../scalars.ts';
import { Category, File, FileDraft, FileUpload, fileCategories, NewFile, Sha256, Source } from './file-fields.ts';
import { PcapInfo, PcapQuery } from './file-pcap.ts';
import { FilePreview, PreviewQuery } from './file-preview.ts';

/** 10 MiB of content in base64 and the members beside it. */
const bodyLimit = 14 * 1_048_576;
const bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const time = (description: string) => Type.String({ format: 'date-time', description });

const shared = { path: '/files', noun: 'file', item: File, read: 'files.read' } as const;

const crud = crudRoutes({
  ...shared,
  draft: FileDraft,
  query: ListQuery(['id', 'name', 'size', 'category', 'createdAt', 'updatedAt', 'first_seen_at'], {
    category: Type.Optional(Type.Array(Category, { maxItems: 9, description: 'Of one of these; may be repeated' })),
    tag: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32, description: 'Has all of these; may be repeated' }),
    ),
    source: Type.Optional(Source),
    mime: Type.Optional(Type.String({ maxLength: 128 })),
    hash: Type.Optional(
      Type.String({ pattern: '^[0-9a-fA-F]{32,96}$', description: 'Any of the five hashes, in hex' }),
    ),
    sizeMin: Type.Optional(bytes),
    sizeMax: Type.Optional(bytes),
    createdFrom: Type.Optional(time('Made at this time or later')),
    createdTo: Type.Optional(time('Made before this time')),
    syncReady: Type.Optional(Type.Boolean()),
    issuerID: Type.Optional(Id),
    unused: Type.Optional(Type.Boolean({ description: 'Used by no other record' })),
  }),
  write: 'files.write',
});

const get = <const P extends string>(path: P, summary: string) =>
  ({ method: 'GET', path: `/files${path}` as `/files${P}`, summary, access: 'files.read' }) as const;

const Stored = Type.Object({
  data: Id,
  duplicate: Type.Boolean({ description: 'The content was stored already' }),
  files: Type.Optional(
    Type.Array(Id, { description: 'The files of an archive that was unpacked; `data` is the first' }),
  ),
});

const SyncState = Type.Object(
  {
    agentID: Id,
    agentName: Type.String(),
    state: OneOf(['pending', 'syncing', 'synced', 'stale', 'failed', 'absent']),
    bytes,
    sha256: Type.String(),
    updatedAt: MaybeTimestamp,
    error: Type.String(),
  },
  { title: 'FileSyncState' },
);

export const files = collection({
  tag: 'files',
  title: 'Files',
  routes: {
    ...crud,
    all: allRoute(shared),
    get: route({
      ...crud.get,
      query: Type.Object({
        include: Type.Optional(
          Type.String({
            pattern: '^(references|derived|upload)(,(references|derived|upload))*$',
            description: 'Any of references, derived, upload, joined by commas',
          }),
        ),
      }),
    }),
    create: route({
      method: 'POST',
      path: '/files',
      summary: 'Store a file: as a form, as base64 in JSON, or by opening a resumable upload',
      access: 'files.write',
      body: createBody(NewFile, File),
      upload: FileUpload,
      bodyLimit,
      reply: Stored,
      errors: [409],
    }),
    content: route({
      method: 'PUT',
      path: '/files/:id/content',
      summary:
        'Send the next bytes of a resumable upload; Content-Range says which, `bytes */TOTAL` asks how far it is',
      access: 'files.write',
      params: IdParams,
      chunk: true,
      reply: Data(Type.Object({ received: bytes, total: bytes, complete: Type.Boolean() })),
      errors: [404, 409, 410],
    }),
    removeMany: route({
      ...crud.removeMany,
      query: Type.Object({
        force: Type.Optional(Type.Boolean({ description: 'Also delete files made from these that nobody uses' })),
      }),
      body: ManyIds,
      reply: Ids,
    }),
    download: route({
      ...get('/:id/download', 'The content, whole or a range of it'),
      access: 'files.download',
      params: IdParams,
      query: Type.Object({
        inline: Type.Optional(Type.Boolean({ description: 'To be shown in place; only text, JSON and CSV are' })),
      }),
      download: ['application/octet-stream', 'text/plain', 'text/csv', 'application/json'],
      errors: [404, 409],
    }),
    categories: route({
      ...get('/categories', 'Categories, what they take, and how much is stored'),
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
    tags: route({
      ...get('/tags', 'Tags and how many files have them, most used first'),
      query: Type.Object({
        category: Type.Optional(Category),
        search: Type.Optional(Type.String({ maxLength: 64, description: 'Part of a tag' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
      }),
      reply: Data(Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() }))),
    }),
    check: route({
      method: 'POST',
      path: '/files/check',
      summary: 'Which contents are stored already',
      access: 'files.read',
      body: Type.Object(
        {
          array: Type.Array(
            Type.Object(
              {
                ref: Type.String({ maxLength: 255, description: 'Comes back with the answer' }),
                sha256: Sha256,
                size: Type.Optional(bytes),
                category: Type.Optional(Category),
              },
              { additionalProperties: false },
            ),
            { minItems: 1, maxItems: 1000 },
          ),
        },
        { additionalProperties: false },
      ),
      reply: Data(
        Type.Array(
          Type.Object({
            ref: Type.String(),
            exists: Type.Boolean(),
            id: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
            sameCategory: Type.Boolean(),
          }),
        ),
      ),
    }),
    sync: route({
      method: 'POST',
      path: '/files/sync',
      summary: 'Push files to agents',
      access: 'files.write',
      body: Type.Object(
        {
          array: ManyIds.properties.array,
          agents: Type.Union([OneOf(['all']), Type.Array(Id, { minItems: 1, maxItems: 1000, uniqueItems: true })]),
          verify: Type.Optional(
            Type.Boolean({ description: 'Agents hash what they have, and not only what they get' }),
          ),
        },
        { additionalProperties: false },
      ),
      reply: Data(Type.Object({ jobID: Type.String(), pairs: Type.Integer(), bytes })),
      errors: [404, 409],
    }),
    syncState: route({
      ...get('/:id/sync', 'Which agents have the file'),
      params: IdParams,
      query: Type.Object({ agentID: Type.Optional(Id) }),
      reply: Page(SyncState),
      errors: [404],
    }),
    pcap: route({
      ...get('/:id/pcap', 'What a capture holds: facts, sessions, steps and their payload'),
      params: IdParams,
      query: PcapQuery,
      reply: Data(PcapInfo),
      errors: [404, 409],
    }),
    preview: route({
      ...get('/:id/preview', 'A bounded look at the content by its kind'),
      params: IdParams,
      query: PreviewQuery,
      reply: Data(FilePreview),
      errors: [404, 409],
    }),
  },
});
