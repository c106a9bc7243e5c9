import type { TSchema } from 'typebox';

interface Marked {
  readonly 'x-ignored'?: true;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/** JSON pointers of members that are given but that nothing honours. */
export const ignoredMembers = (schema: TSchema, value: unknown, path: string): string[] => {
  const { 'x-ignored': isIgnored, properties = {}, items } = schema as Marked;
  if (isIgnored) return [path];
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((part, i) => ignoredMembers(items, part, `${path}/${i}`));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return member === undefined ? [] : ignoredMembers(member, part, `${path}/${name}`);
  });
};
