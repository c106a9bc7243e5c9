import { text } from '../engine/column.ts';

/** What agents play of recordings, by the hash of the bytes, which are made from recording and wishes when asked for. */
export const harScripts = { sha256: text, fileSha256: text, params: text, side: text, createdAt: text };
