import { Type } from 'typebox';
import { fileCategories } from '../../collections/file-fields.ts';
import { Id } from '../../scalars.ts';
import { optional } from '../../schema.ts';

/** What a member of a task can name by id. Signatures, campaigns and samples are security content. */
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

/** How a schema says that a member is an id of something: `x-reference`, and for files the categories that fit. */
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

export const maybeIdOf = (kind: ReferenceKind, description: string) => Type.Optional(idOf(kind, description));

/** Everything that may be sent as it is: all but samples. */
export const plainCategories = fileCategories.filter((category) => category !== 'malware');

export const fileId = (description: string, categories: readonly FileCategory[]) =>
  Type.Integer({ ...Id, description, ...markOf('file', categories) });

export const idsOf = (kind: ReferenceKind, description: string, maxItems = 1000) =>
  Type.Array(idOf(kind, description), { description, default: [], maxItems, uniqueItems: true });

/** `{ id, … }`: what else a client sends back is accepted and dropped. */
export const recordOf = (kind: ReferenceKind, description: string) =>
  Type.Object({ id: idOf(kind, description) }, { description, additionalProperties: true });

/** A text that is PEM, or the id of a certificate in decimal digits. */
export const maybePemOrId = (description: string) =>
  optional.string({
    description: `${description}: PEM, or the id of a stored certificate`,
    maxLength: 65_536,
    pattern: '^([1-9][0-9]{0,15}|\\s*-----BEGIN [\\s\\S]+)$',
    ...markOf('certificate'),
  });

/** An id whose kind is told by a member beside it. */
export const idByMember = (member: string, marks: Readonly<Record<string, ReferenceMark>>, description: string) =>
  Type.Optional(Type.Integer({ ...Id, description, 'x-reference-by': { member, marks } }));
