import { integer, text } from '../engine/column.ts';
import { fileColumns } from './file-columns.ts';

export const files = fileColumns;

/** What is known of the captures among the contents, shared by all files with the same content. */
export const captures = { sha256: text, info: text };

/** Sessions in blocks of a fixed number, so that a page is read without the rest. */
export const captureSessions = { sha256: text, block: integer, sessions: text };
