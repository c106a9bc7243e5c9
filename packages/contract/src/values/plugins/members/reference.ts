import { Type } from 'typebox';
import { fileCategories } from '../../../collections/files/file.ts';
import { Id } from '../../../scalars.ts';
import { optional } from '../../../schema.ts';

/** Kinds of records that a task can refer to by id. */
export type ReferenceKind =
  | 'agent'
  | 'interface'
  | 'network'
  | 'tunnel'
  | 'certificate'
  | 'file'
  | 'dictionary'
  | 'application'
  | 'signature'
  | 'campaign'
  | 'task';

export type FileCategory = (typeof fileCategories)[number];

/** Marks a schema member as the id of a record: `x-reference`, and for files the allowed categories. */
export interface ReferenceMark {
  readonly 'x-reference': ReferenceKind;
  readonly 'x-categories'?: readonly FileCategory[];
}

const markOf = (kind: ReferenceKind, categories?: readonly FileCategory[]): ReferenceMark => ({
  'x-reference': kind,
  ...(categories && { 'x-categories': categories }),
});

/** The id of a record. */
export const idOf = (kind: ReferenceKind, description: string) => Type.Integer({ ...Id, description, ...markOf(kind) });

export const optionalIdOf = (kind: ReferenceKind, description: string) => Type.Optional(idOf(kind, description));

/** File categories that may be sent as they are: all but malware. */
export const plainCategories = fileCategories.filter((category) => category !== 'malware');

export const fileId = (description: string, categories: readonly FileCategory[]) =>
  Type.Integer({ ...Id, description, ...markOf('file', categories) });

export const idsOf = (kind: ReferenceKind, description: string, maxItems = 1000) =>
  Type.Array(idOf(kind, description), { description, default: [], maxItems, uniqueItems: true });

/** `{ id, … }`: further members are accepted and dropped. */
export const recordOf = (kind: ReferenceKind, description: string) =>
  Type.Object({ id: idOf(kind, description) }, { description, additionalProperties: true });

/** PEM, or the id of a stored certificate in decimal digits. */
export const optionalPemOrId = (description: string) =>
  optional.string({
    description: `${description}: PEM, or the id of a stored certificate`,
    maxLength: 65_536,
    pattern: '^([1-9][0-9]{0,15}|\\s*-----BEGIN [\\s\\S]+)$',
    ...markOf('certificate'),
  });

/** An id whose record kind depends on another member of the same object. */
export const idByMember = (member: string, marks: Readonly<Record<string, ReferenceMark>>, description: string) =>
  Type.Optional(Type.Integer({ ...Id, description, 'x-reference-by': { member, marks } }));
