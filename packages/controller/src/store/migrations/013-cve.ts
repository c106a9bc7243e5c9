import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Whatever filters look at without looking it up: one index to scan instead of the whole rows. */
const filtered = [
  ...['severity', 'category', 'protocol', 'kev', 'enabled', 'safety'],
  ...['direction', 'source', 'year', 'cvssScore', 'epssScore'],
];
const sorted = ['severityRank', 'cvssScore', 'epssScore', 'year', 'updatedAt', 'name'] as const;

/** CVE signatures. */
export const cve = async (m: Migrating) => {
  await createTable(m, 'cveSignatures', {
    id: 'id',
    name: 'text',
    severity: 'text',
    severityRank: 'integer',
    cvssScore: 'real?',
    epssScore: 'real?',
    kev: 'integer',
    year: 'integer?',
    vendor: 'text',
    product: 'text',
    protocol: 'text',
    direction: 'text',
    category: 'text',
    safety: 'text',
    enabled: 'integer',
    source: 'text',
    sourceRef: 'text',
    fingerprint: 'text',
    issuerID: 'integer?',
    createdAt: 'text',
    updatedAt: 'text',
  });
  await m.run(m.db.schema.createIndex('cveSignatures_filters_index').on('cveSignatures').columns(filtered));
  for (const column of ['vendor', 'product']) await createIndex(m, 'cveSignatures', column);
  for (const column of sorted) await createIndex(m, 'cveSignatures', column, 'id');
  await createIndex(m, 'cveSignatures', 'source', 'sourceRef');
  await createTable(m, 'cveDetails', { signatureID: 'integer!', details: 'text', content: 'text', raw: 'text' });
  await createTable(m, 'cveTexts', { signatureID: 'integer!', haystack: 'text' });
  await createTable(m, 'cveLabels', { signatureID: 'integer', kind: 'text', value: 'text' });
  await createIndex(m, 'cveLabels', 'signatureID', 'kind', 'value');
  // Beginnings of ids are looked up as ranges, which is right by code point alone.
  const order = m.engine === 'postgres' ? ' COLLATE "C"' : '';
  await m.raw(`CREATE INDEX "cveLabels_value_index" ON "cveLabels" ("kind", "value"${order}, "signatureID")`);
  if (m.engine === 'sqlite') {
    await m.raw(
      `CREATE VIRTUAL TABLE "cveSearch" USING fts5(haystack, content='', contentless_delete=1, tokenize='trigram')`,
    );
  }
};
