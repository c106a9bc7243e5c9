import { type Static, Type } from 'typebox';

/** Bytes to send. Files arrive here as `base64`, dictionaries as `values`. */
export const Payload = Type.Object(
  {
    type: Type.Union(
      [
        Type.Literal('zero'),
        Type.Literal('random'),
        Type.Literal('pattern'),
        Type.Literal('text'),
        Type.Literal('base64'),
        Type.Literal('values'),
      ],
      { default: 'zero' },
    ),
    size: Type.Integer({
      minimum: 0,
      maximum: 67_108_864,
      default: 0,
      description: 'Bytes; default for text and base64: their length.',
    }),
    data: Type.String({ default: '', description: 'The text, the base64, or the pattern to repeat up to `size`.' }),
    values: Type.Optional(
      Type.Array(Type.String(), { minItems: 1, maxItems: 10_000, description: 'Messages to send in turn.' }),
    ),
  },
  { additionalProperties: false, default: {} },
);
export type Payload = Static<typeof Payload>;
