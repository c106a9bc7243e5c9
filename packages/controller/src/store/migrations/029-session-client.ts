import type { Migrating } from './create-table.ts';

/** The User-Agent of a sign-in, by which users recognize their sessions. */
export const sessionClient = (m: Migrating) =>
  m.raw(`ALTER TABLE "sessions" ADD COLUMN "client" text NOT NULL DEFAULT ''`);
