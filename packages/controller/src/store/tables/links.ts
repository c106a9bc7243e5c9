import { integer, text } from '../engine/column.ts';

/** Which record uses which: a task its networks, an application its capture. Kept with every write of the user. */
export const links = { fromKind: text, fromID: integer, fromName: text, toKind: text, toID: integer };
