import { type TProperties, type TSchema, Type } from 'typebox';
import type { AiAnnotations, AiOperation } from '../../ai-scopes.ts';
import { Cursor } from '../../envelopes.ts';
import { optional, StrictObject } from '../../schema.ts';

const kinds = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  add: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  adjust: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  destroy: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  /** Real packets leave the machine. */
  traffic: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
} as const satisfies Record<string, AiAnnotations>;

/** The `ai` member of a gateway route. */
export const aiOperation = (
  tool: string,
  scope: AiOperation['scope'],
  kind: keyof typeof kinds,
  risk: AiOperation['risk'] = 'R0',
): AiOperation => ({ tool, scope, risk, annotations: kinds[kind] });

const Truncated = optional.flag('Cut to the size an answer may have');

/** One object for a model. `data.truncated`: members were cut. */
export const AiOne = <T extends TSchema>(data: T) => Type.Object({ cursor: Cursor, data, truncated: Truncated });

export const AiPage = <T extends TSchema>(item: T) =>
  Type.Object({ cursor: Cursor, data: Type.Array(item), truncated: Truncated });

/** An object with any members. */
export const FreeObject = Type.Record(Type.String(), Type.Unknown());

export const AiBody = <P extends TProperties>(members: P) => StrictObject(members);

export const view = {
  view: optional.oneOf(['summary', 'full'], { default: 'summary', description: 'full: everything there is' }),
};
export const path = {
  path: optional.string({ maxLength: 512, pattern: '^(/.*)?$', description: 'JSON pointer: answer only this part' }),
};

export const IdempotencyKey = optional.string({
  minLength: 1,
  maxLength: 255,
  description: 'The same key with the same request is carried out once; also as the header Idempotency-Key',
});
