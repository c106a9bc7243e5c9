import type { Migrating } from './create-table.ts';

/** The device under test of a task, a JSON object or null. */
export const taskDevices = (m: Migrating) => m.raw(`ALTER TABLE "tasks" ADD COLUMN "device" text`);
