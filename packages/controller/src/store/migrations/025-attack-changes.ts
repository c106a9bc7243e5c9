import type { Migrating } from './create-table.ts';

/** What a path changed in the messages of an attempt, as a list of texts. */
export const attackChanges = (m: Migrating) =>
  m.raw(`ALTER TABLE "attackResults" ADD COLUMN "changes" text NOT NULL DEFAULT '[]'`);
