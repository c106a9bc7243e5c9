import { Type } from 'typebox';

/** One out of a fixed set. */
export const word = <const Words extends readonly string[]>(words: Words, options: object = {}) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...options });
