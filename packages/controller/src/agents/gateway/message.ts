import { ToController } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';

/** The agent said something it must not say; its session ends with this sentence. */
export class BadMessage extends Error {
  override readonly name = 'BadMessage';
}

const membersOf = (schema: TSchema): TSchema[] =>
  'anyOf' in schema ? (schema.anyOf as TSchema[]).flatMap(membersOf) : [schema];

/** By the `type` of a message, so that a message is checked against one schema and not against all. */
const checks = new Map<unknown, SchemaCheck>(
  membersOf(ToController).map((schema) => [
    (schema as unknown as { properties: { type: { const: string } } }).properties.type.const,
    createSchemaCheck(schema, 'first'),
  ]),
);

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BadMessage('not JSON', { cause });
  }
};

/** Throws `BadMessage` unless the text is a message of the protocol. */
export const parseMessage = (text: string): ToController => {
  const value = parseJson(text);
  const type = (value as { type?: unknown } | null)?.type;
  const check = checks.get(type);
  if (check === undefined) throw new BadMessage(`no message of type ${String(type).slice(0, 32)} is known`);
  const [issue] = check(value);
  if (issue) throw new BadMessage(`${String(type)}${issue.path} ${issue.message}`);
  return value as ToController;
};

/** The version an agent speaks, told before anything else is looked at: what follows may be of another form. */
export const protocolOf = (text: string) => {
  const { protocol } = (parseJson(text) ?? {}) as { protocol?: unknown };
  return typeof protocol === 'number' ? protocol : undefined;
};
