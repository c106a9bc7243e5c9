import { en } from '../texts/en.ts';

/** The text catalogue in use. */
export const text = en;
