type Json = Record<string, unknown>;

/** Marks a secret: never shown to AI models, nor in the audit log, logs and notifications. */
export const secret = { 'x-secret': true } as const;

/** A secret that not even its owner can read back: stored encrypted. */
export const writeOnlySecret = { ...secret, writeOnly: true } as const;

const isHolder = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Write-only members count as secrets even without the mark. */
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

/** Every member of a schema, at any depth. */
export function* membersIn(schema: unknown, pointer = ''): Generator<FoundMember> {
  if (!isHolder(schema)) return;
  const { properties, items, anyOf, allOf, patternProperties, additionalProperties } = schema as Record<string, never>;
  for (const [name, member] of Object.entries<Json>(properties ?? {})) {
    const memberPointer = `${pointer}/${name}`;
    yield { pointer: memberPointer, name, schema: member };
    yield* membersIn(member, memberPointer);
  }
  for (const inner of [...(anyOf ?? []), ...(allOf ?? [])]) yield* membersIn(inner, pointer);
  for (const inner of [items, additionalProperties, ...Object.values(patternProperties ?? {})]) {
    yield* membersIn(inner, `${pointer}/*`);
  }
}
