import { en } from '../texts/en.ts';

/** The catalogue in use. */
export const text = en;
