import type { TSchema } from 'typebox';
import type { FileCategory, ReferenceKind, ReferenceMark } from './reference.ts';

/** A reference from a task to a record. */
export interface FoundReference {
  readonly kind: ReferenceKind;
  readonly id: number;
  /** JSON pointer. */
  readonly path: string;
  /** The object that contains the reference. */
  readonly beside: Readonly<Record<string, unknown>>;
  /** Allowed categories of a file. */
  readonly categories?: readonly FileCategory[];
  /** Protocol the dictionary must be a profile of. */
  readonly protocol?: string;
}

interface Marked extends Partial<ReferenceMark> {
  readonly 'x-reference-by'?: { readonly member: string; readonly marks: Readonly<Record<string, ReferenceMark>> };
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

type Holder = Readonly<Record<string, unknown>>;

const isHolder = (value: unknown): value is Holder =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const escapeName = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Ids are numbers, or strings of digits where the API declares a string. */
const idIn = (value: unknown): number | undefined => {
  const id = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
};

const markIn = (schema: Marked, beside: Holder): Partial<ReferenceMark> => {
  const by = schema['x-reference-by'];
  return by === undefined ? schema : (by.marks[String(beside[by.member])] ?? {});
};

/** Every id in `value` that its schema marks as a reference. Values that do not match the schema are skipped. */
export const referencesIn = (schema: TSchema, value: unknown, path = '', beside: Holder = {}): FoundReference[] => {
  const marked = schema as Marked;
  const { 'x-reference': kind, 'x-categories': categories } = markIn(marked, beside);
  const id = kind && idIn(value);
  if (kind && id !== undefined) return [{ kind, id, path, beside, ...(categories && { categories }) }];
  const { items, properties = {} } = marked;
  if (Array.isArray(value)) {
    return items === undefined
      ? []
      : value.flatMap((part, index) => referencesIn(items, part, `${path}/${index}`, beside));
  }
  if (!isHolder(value)) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return member === undefined ? [] : referencesIn(member, part, `${path}/${escapeName(name)}`, value);
  });
};
