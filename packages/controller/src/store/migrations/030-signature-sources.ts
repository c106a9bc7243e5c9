import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Templates that signatures were made from, each once: a file of tests is the source of hundreds of them. */
export const signatureSources = async (m: Migrating) => {
  await createTable(m, 'cveSources', { sha256: 'text!', raw: 'text' });
  await m.raw(`ALTER TABLE "cveDetails" ADD COLUMN "sourceHash" text NOT NULL DEFAULT ''`);
  const hash =
    m.engine === 'sqlite'
      ? `coalesce(json_extract("details", '$.sourceSha256'), '')`
      : `coalesce("details"::jsonb ->> 'sourceSha256', '')`;
  await m.raw(`UPDATE "cveDetails" SET "sourceHash" = ${hash} WHERE "raw" <> '' AND "details" <> ''`);
  await m.raw(
    `INSERT INTO "cveSources" ("sha256", "raw") SELECT "sourceHash", min("raw") FROM "cveDetails" WHERE "sourceHash" <> '' GROUP BY "sourceHash"`,
  );
  await m.raw(`UPDATE "cveDetails" SET "raw" = '' WHERE "sourceHash" <> ''`);
  await createIndex(m, 'cveDetails', 'sourceHash');
};
