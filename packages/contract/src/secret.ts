type Json = Record<string, unknown>;

/** Marks a member whose value is a secret: models, audit, logs and notifications never see it. */
export const secret = { 'x-secret': true } as const;

/** A secret that also its owner cannot read back: sealed where it is stored. */
export const writeOnlySecret = { ...secret, writeOnly: true } as const;

const isHolder = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** What cannot be read back counts, whether it is marked or not. */
export const isSecret = (schema: unknown): boolean =>
  isHolder(schema) &&
  (schema['x-secret'] === true ||
    schema['writeOnly'] === true ||
    (Array.isArray(schema['anyOf']) && schema['anyOf'].some(isSecret)));

export interface FoundMember {
  /** JSON pointer; `*` stands for any item or any name. */
  readonly pointer: string;
  readonly name: string;
  readonly schema: Json;
}

/** Every member that a schema describes, however deep. */
export function* membersIn(schema: unknown, pointer = ''): Generator<FoundMember> {
  if (!isHolder(schema)) return;
  const { properties, items, anyOf, allOf, patternProperties, additionalProperties } = schema as Record<string, never>;
  for (const [name, member] of Object.entries<Json>(properties ?? {})) {
    const place = `${pointer}/${name}`;
    yield { pointer: place, name, schema: member };
    yield* membersIn(member, place);
  }
  for (const inner of [...(anyOf ?? []), ...(allOf ?? [])]) yield* membersIn(inner, pointer);
  for (const inner of [items, additionalProperties, ...Object.values(patternProperties ?? {})]) {
    yield* membersIn(inner, `${pointer}/*`);
  }
}
