import { type Static, type TArrayOptions, type TProperties, type TSchema, type TStringOptions, Type } from 'typebox';

/** Refuses members that the schema does not name. */
export const strict = { additionalProperties: false } as const;

export const StrictObject = <P extends TProperties>(members: P) => Type.Object(members, strict);

/** An object that is a component of the OpenAPI document under this name. */
export const Component = <P extends TProperties>(title: string, members: P) => Type.Object(members, { title });

export const StrictComponent = <P extends TProperties>(title: string, members: P) =>
  Type.Object(members, { title, ...strict });

/** The same schema, which also takes `null`. Written as a type list because its serializer is much faster than a union's. */
export const Nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [(schema as unknown as { type: string }).type, 'null'] });

/** The same schema with a description of its own. */
export const Described = <T extends TSchema>(schema: T, description: string) =>
  Type.Unsafe<Static<T>>({ ...schema, description });

/** A string out of a fixed set. */
export const OneOf = <const Values extends readonly string[]>(values: Values, options: object = {}) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });

/** Marks members that matter only with some values of another one; forms leave them out otherwise. */
export const membersFor = <P extends TProperties>(needed: Readonly<Record<string, readonly string[]>>, members: P): P =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [
      name,
      Object.defineProperties(
        {},
        { ...Object.getOwnPropertyDescriptors(schema), 'x-for': { value: needed, enumerable: true } },
      ),
    ]),
  ) as P;

type Range = readonly [minimum: number, maximum: number];

const given = (members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Members that may be left out. */
export const optional = {
  flag: (description?: string, value?: boolean) => Type.Optional(Type.Boolean(given({ default: value, description }))),
  text: (maxLength: number, description?: string) => Type.Optional(Type.String(given({ maxLength, description }))),
  integer: ([minimum, maximum]: Range, description?: string, value?: number) =>
    Type.Optional(Type.Integer(given({ minimum, maximum, default: value, description }))),
  string: (options: TStringOptions) => Type.Optional(Type.String(options)),
  array: <T extends TSchema>(item: T, options: TArrayOptions = {}) => Type.Optional(Type.Array(item, options)),
  oneOf: <const Values extends readonly string[]>(values: Values, options: object = {}) =>
    Type.Optional(OneOf(values, options)),
  described: <T extends TSchema>(schema: T, description: string) => Type.Optional(Described(schema, description)),
};
