import type { Migrating } from './create-table.ts';

/** The definition of the task that a schedule was made for. Empty for older schedules, which run any. */
export const scheduleDefinition = (m: Migrating) =>
  m.raw(`ALTER TABLE "taskSchedules" ADD COLUMN "definition" text NOT NULL DEFAULT ''`);
