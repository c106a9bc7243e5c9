import { ToAgent } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';

// TypeBox's own types are slow to check here and add nothing.
const { Check, Errors } = value as unknown as {
  Check(schema: TSchema, value: unknown): boolean;
  Errors(schema: TSchema, value: unknown): { instancePath: string; message: string }[];
};

type Variant = TSchema & { anyOf?: Variant[]; properties?: { type: { const: string } } };

const variantsOf = (schema: Variant): (readonly [string, TSchema])[] =>
  schema.anyOf?.flatMap(variantsOf) ?? [[schema.properties?.type.const ?? '', schema]];

const schemas: ReadonlyMap<string, TSchema> = new Map(variantsOf(ToAgent as Variant));

/** A message that violates the protocol. Contains what could be parsed, so that it can be answered. */
export class BadMessage extends Error {
  readonly content: Readonly<Record<string, unknown>>;
  constructor(message: string, content: unknown) {
    super(message);
    this.content = (typeof content === 'object' && content !== null ? content : {}) as Record<string, unknown>;
  }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadMessage('the controller sent invalid JSON', undefined);
  }
};

/** Parses a message of the controller and checks it against the schema of its type, so that problems are specific. */
export const parseMessage = (text: string): ToAgent => {
  const content = parseJson(text);
  const { type } = (content ?? {}) as { type?: unknown };
  const schema = schemas.get(String(type));
  if (schema === undefined) throw new BadMessage(`the controller sent an unknown message: ${String(type)}`, content);
  if (Check(schema, content)) return content as ToAgent;
  const problems = Errors(schema, content).slice(0, 10);
  const named = problems.map((problem) => `${problem.instancePath || '/'} ${problem.message}`).join('; ');
  throw new BadMessage(`the controller sent an invalid ${type}: ${named}`, content);
};
