import { type Static, Type } from 'typebox';
import { createBody, patchBody } from '../bodies.ts';
import { allRoute, crudRoutes } from '../crud.ts';
import { IdParams, ListQuery, NewId, One } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Description, Id, Name, NullableInteger, Tags, Timestamp } from '../scalars.ts';
import { Component, OneOf, optional, StrictObject } from '../schema.ts';
import { protocolNames, protocolProfiles } from '../values/protocols/profiles.ts';
import { Issuer } from './users.ts';

const valueTypes = ['list', 'table', 'range', 'random', 'pattern', 'file'] as const;
const protocolTypes = protocolNames.map((name) => `protocol.${name}` as const);
const selections = ['sequential', 'random', 'shuffle', 'weighted', 'unique', 'pinned'] as const;
const encodings = ['utf-8', 'utf-16le', 'iso-8859-1', 'windows-1252'] as const;

/** 100,000 rows exceed the default body limit. */
const bodyLimit = 16 * 1_048_576;

const Config = Type.Unsafe<Record<string, Record<string, unknown>>>({
  type: 'object',
  maxProperties: 200,
  additionalProperties: { type: 'object', additionalProperties: true },
  description:
    'Objects by name. Names of columns say how their cells are made and encoded (`value` where there is one column), ' +
    'names with `$` are options: `$selection` {onEnd, scope, shard, seed, offset, limit, weights, weightColumn}, ' +
    '`$source` {fileID, delimiter, quote, header, encoding, skipEmpty} of type file, `$combine` {mode}. ' +
    'For `protocol.<name>` the sections of that protocol.',
});

/** The same with the schema of each protocol, for the OpenAPI document. */
const DraftConfig = Type.Unsafe<Static<typeof Config>>({
  ...Config,
  'x-profiles': Object.fromEntries(
    protocolNames.map((name) => [name, { ...protocolProfiles[name], title: `protocol.${name}` }]),
  ),
});

const members = {
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
  selection: optional.oneOf(selections, {
    description: 'How rows are chosen; sequential unless said. The same seed draws the same rows',
  }),
};

const text = { type: 'string' };

/**
 * An array whose items are validated by the handler: a validator that collects all errors would hold millions of them
 * for one hostile body of this size. `unevaluatedItems` documents the items without validating them.
 */
const cells = <T>(items: object, description: string) =>
  Type.Unsafe<T>({ type: 'array', unevaluatedItems: items, description });

const content = {
  columns: optional.array(Type.String({ minLength: 1, maxLength: 128 }), {
    description: 'Names of the columns, at most 100',
  }),
  rows: Type.Optional(
    cells<string[][]>(
      { type: 'array', unevaluatedItems: text },
      'Rows of a table, each as long as `columns`; at most 100,000',
    ),
  ),
  values: Type.Optional(cells<string[]>(text, 'Values of a list, at most 100,000')),
  config: Type.Optional(DraftConfig),
  rowsPartial: optional.flag(
    'True in records that show only part of their rows. Sent back with such a part it is refused',
  ),
};

const Kind = OneOf([...valueTypes, ...protocolTypes], {
  description:
    'Where the values come from; `protocol.<name>` holds parameters of a protocol for access and control planes',
});

export const DictionaryDraft = Type.Object({ name: Name, type: Kind, ...members, ...content });

/** How to parse lines of a file into rows. */
const reading = {
  delimiter: optional.string({
    pattern: '^(.|tab|\\\\t)$',
    description: 'One character, or `tab`; a comma unless the name of the file ends with .tsv',
  }),
  quote: optional.text(1, 'One character, or empty for none; the double quote unless said'),
  header: optional.flag('The first line names the columns; true unless said, false for a list'),
  encoding: optional.oneOf(encodings, { description: 'utf-8 unless said' }),
  skipEmpty: optional.flag('Leave empty lines out; true unless said'),
};

const DictionaryUpload = StrictObject({
  name: Name,
  type: optional.oneOf(['table', 'list'], {
    description: 'A list takes every line as one value; the default for names with .txt',
  }),
  ...members,
  ...reading,
});

/** A new dictionary; with `fileID` its rows come from that file. */
const NewDictionary = Type.Object({
  name: Name,
  type: Type.Optional(Kind),
  ...members,
  ...content,
  fileID: optional.described(
    Id,
    'Type file (the default) reads the file whenever it is used; list and table copy its lines',
  ),
  ...reading,
});
export type NewDictionary = Static<typeof NewDictionary>;
export type DictionaryUpload = Static<typeof DictionaryUpload>;

export const Dictionary = Component('Dictionary', {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  type: Type.String(),
  tags: Type.String(),
  selection: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.String())),
  values: Type.Array(Type.String()),
  config: Config,
  source: OneOf(['user', 'builtin'], { description: 'Built-in ones cannot be changed or deleted' }),
  rowCount: Type.Integer({ description: 'Rows or values that are stored or in the file; 0 where they are computed' }),
  rowsPartial: optional.flag(),
  sample: optional.array(Type.Record(Type.String(), Type.String()), { description: 'Drawn rows, by column' }),
  issuerId: NullableInteger,
  issuer: Issuer,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Dictionary = Static<typeof Dictionary>;

const shared = { path: '/dictionaries', noun: 'dictionary', item: Dictionary, permissions: 'dictionaries' } as const;

const crud = crudRoutes({
  ...shared,
  draft: DictionaryDraft,
  query: ListQuery(['id', 'name', 'type', 'createdAt', 'updatedAt'], {
    type: Type.Optional(Kind),
    tag: optional.text(64, 'Has this tag'),
    selection: optional.oneOf(selections),
    column: optional.text(128, 'Has this column'),
  }),
});

export const dictionaries = collection({
  tag: 'dictionaries',
  title: 'Dictionaries',
  routes: {
    ...crud,
    list: { ...crud.list, summary: 'List dictionaries, without their rows' },
    removeMany: { ...crud.removeMany, summary: 'Delete dictionaries, all or none' },
    all: { ...allRoute(shared), summary: 'All dictionaries, without their rows' },
    create: route('POST /dictionaries', {
      summary: 'Create a dictionary from JSON, from an uploaded CSV, TSV or text file, or from a stored file',
      access: 'dictionaries.write',
      body: createBody(NewDictionary, Dictionary),
      upload: DictionaryUpload,
      bodyLimit,
      reply: NewId,
      errors: [409],
    }),
    update: route('PATCH /dictionaries', {
      summary: 'Update a dictionary',
      access: 'dictionaries.write',
      body: patchBody(DictionaryDraft, Dictionary),
      bodyLimit,
      errors: [404, 409],
    }),
    get: route('GET /dictionaries/:id', {
      summary: 'Get a dictionary with a page of its rows, and rows drawn from it',
      access: 'dictionaries.read',
      params: IdParams,
      query: Type.Object({
        rowsFrom: optional.integer([0, Number.MAX_SAFE_INTEGER], 'First row, from 0', 0),
        rowsLimit: optional.integer([0, 10_000], 'Rows shown', 10_000),
        sample: optional.integer([1, 1000], 'Rows to draw by the rule of selection and its seed'),
      }),
      reply: One(Dictionary),
      errors: [404],
    }),
  },
});
