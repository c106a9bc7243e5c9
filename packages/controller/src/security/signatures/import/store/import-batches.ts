import type { CveImportFields, CveImportLine } from '@rushhour/contract';
import type { Bus } from '../../../../bus/local.ts';
import type { Caller } from '../../../../caller.ts';
import type { Change } from '../../../../store/engine/change.ts';
import {
  findBySource,
  findSignature,
  insertSignature,
  type NewSignature,
  replaceSignature,
} from '../../../../store/security/cve.ts';
import { rememberImport } from '../../../../store/security/cve-facets.ts';
import type { Store } from '../../../../store/store.ts';
import { notify } from '../../../../store/system/notifications.ts';
import { enrich } from '../../enrich.ts';
import { linkSignature } from '../../write.ts';
import type { Enrichment } from '../template.ts';
import type { ImportEntry } from './import-entries.ts';
import type { Prepared } from './prepare-template.ts';

/** Stores one template, or says why it need not be. */
const storeTemplate = async (
  tx: Change,
  { path, templateId, raw = '', signature }: Prepared,
  { dryRun = false, onConflict = 'replace' }: CveImportFields,
): Promise<CveImportLine> => {
  const known = await findBySource(tx, signature.source, signature.sourceRef);
  const line = (status: CveImportLine['status'], reason: string, ids: number[]): CveImportLine => ({
    path,
    templateId,
    status,
    reason,
    safety: signature.safety,
    signatureIDs: ids,
  });
  if (known?.fingerprint === signature.fingerprint) return line('unchanged', '', [known.id]);
  if (known && onConflict === 'skip')
    return line('unchanged', 'there is another one of this name, which is kept', [known.id]);
  const warnings = signature.warnings.join('; ').slice(0, 500);
  if (known && onConflict === 'replace') {
    if (!dryRun) await renew(tx, known.id, signature, raw);
    return line('updated', warnings, [known.id]);
  }
  const id = dryRun ? undefined : await insertSignature(tx, signature, raw);
  if (id !== undefined) await linkSignature(tx, id, signature);
  const ids = id === undefined ? [] : [id];
  if (signature.safety === 'benign') return line('imported', warnings, ids);
  return line('disabled', [`safety is ${signature.safety}`, warnings].filter(Boolean).join('; '), ids);
};

/** What a new edition of a template changes: not what is known of its CVE from elsewhere. */
const renew = async (tx: Change, id: number, signature: NewSignature, raw: string) => {
  const before = await findSignature(tx, id);
  const kept = before && {
    epssScore: signature.epssScore ?? before.epssScore,
    epssPercentile: signature.epssPercentile ?? before.epssPercentile,
    kev: signature.kev || before.kev,
    publishedAt: signature.publishedAt ?? before.publishedAt,
  };
  await replaceSignature(tx, id, { ...signature, ...kept }, raw);
  await linkSignature(tx, id, signature);
};

export interface ImportDeps {
  readonly store: Store;
  readonly bus: Bus;
}

const batchSize = 250;
const progressEvery = 500;

/** Without the key of an idempotent request: that belongs to the last change, which knows the answer. */
const bare = ({ userId, address, requestId, operation }: Caller) => ({ userId, address, requestId, operation });

/** Tells the importer of every five hundred templates by a notification. */
export const createProgress = ({ store, bus }: ImportDeps, caller: Caller) => {
  let reported = 0;
  return {
    hasReported: () => reported > 0,
    report: async (templates: number) => {
      if (templates - reported < progressEvery) return;
      reported = templates - (templates % progressEvery);
      const message = `${reported} templates read so far`;
      const audience = { userID: caller.userId };
      await store.change(bare(caller), (tx) =>
        notify(tx, bus, { severity: 'info', kind: 'cve.import.progress', message, audience }),
      );
    },
  };
};

/**
 * Stores templates in batches, so that neither memory nor one transaction grows with the import. What is in is in, even
 * if the rest fails: a repeated import finds it unchanged.
 */
export const storeEntries = async (
  { store, bus }: ImportDeps,
  entries: AsyncIterable<ImportEntry>,
  { fields, caller, hasReported }: { fields: CveImportFields; caller: Caller; hasReported: boolean },
) => {
  const { format = 'auto', dryRun = false } = fields;
  const lines: CveImportLine[] = [];
  let batch: Prepared[] = [];
  let facts: Enrichment[] = [];
  let file = '';

  const flush = async () => {
    const [prepared, known] = [batch, facts];
    [batch, facts] = [[], []];
    if (prepared.length === 0 && known.length === 0) return;
    await store.change(bare(caller), async (tx) => {
      for (const item of prepared) lines.push(await storeTemplate(tx, item, fields));
      lines.push(...(await enrich(tx, known, dryRun)));
      tx.note({ format, dryRun, templates: prepared.length, sha256: prepared.map(({ sha256 }) => sha256) });
    });
  };

  for await (const entry of entries) {
    if ('ready' in entry) {
      file = entry.ready.raw ?? file;
      batch.push({ ...entry.ready, raw: file });
    } else if ('line' in entry) lines.push(entry.line);
    else facts.push(...entry.facts);
    if (batch.length >= batchSize || facts.length >= batchSize) await flush();
  }
  await flush();
  return store.change(caller, async (tx) => {
    const report = reportOf(lines);
    const { created, updated, skipped } = report;
    if (!dryRun) await rememberImport(tx);
    tx.note({ format, dryRun, created, updated, skipped });
    const message = `import finished: ${created} new, ${updated} updated, ${skipped} skipped`;
    const audience = { userID: caller.userId };
    if (hasReported) await notify(tx, bus, { severity: 'info', kind: 'cve.import', message, audience });
    return { data: report };
  });
};

const reportOf = (report: CveImportLine[]) => {
  const count = (...statuses: CveImportLine['status'][]) =>
    report.filter(({ status }) => statuses.includes(status)).length;
  return {
    created: count('imported', 'disabled'),
    updated: count('updated'),
    skipped: count('unchanged', 'refused'),
    report,
  };
};
