import type { Migrating } from './create-table.ts';

/** Partitions by time, so that old samples are dropped and not deleted. What is there becomes the partition of all other times. */
export const samplePartitions = async (m: Migrating) => {
  if (m.engine !== 'postgres') return;
  await m.raw('ALTER TABLE "runSamples" RENAME TO "runSamples_other"');
  for (const name of ['runSamples_seq_unique', 'runSamples_runID_toAt_index', 'runSamples_loose_index'])
    await m.raw(`DROP INDEX "${name}"`);
  await m.raw('CREATE TABLE "runSamples" (LIKE "runSamples_other") PARTITION BY RANGE ("fromAt")');
  await m.raw('ALTER TABLE "runSamples" ADD FOREIGN KEY ("runID") REFERENCES "runs" ("id")');
  await m.raw('ALTER TABLE "runSamples" ATTACH PARTITION "runSamples_other" DEFAULT');
  // The key of partitions must be part of it. A second that is sent again has the same time.
  await m.raw(
    'CREATE UNIQUE INDEX "runSamples_seq_unique" ON "runSamples" ("runID", "agentID", "orderIndex", "fromSeq", "fromAt")',
  );
  await m.raw('CREATE INDEX "runSamples_runID_toAt_index" ON "runSamples" ("runID", "toAt")');
  await m.raw('CREATE INDEX "runSamples_loose_index" ON "runSamples" ("runID") WHERE "isBlock" = 0');
};
