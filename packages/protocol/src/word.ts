import { Type } from 'typebox';

/** A string enum. */
export const word = <const Words extends readonly string[]>(words: Words, options: object = {}) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...options });
