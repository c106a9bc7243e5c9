import type { Migrating } from './create-table.ts';

/** Whether an application belongs to the library of every installation. */
export const applicationSource = (m: Migrating) =>
  m.raw(`ALTER TABLE "applications" ADD COLUMN "source" text NOT NULL DEFAULT 'user'`);
