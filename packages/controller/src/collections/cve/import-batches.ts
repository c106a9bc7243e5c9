import { createHash } from 'node:crypto';
import type { CveImportFields, CveImportLine } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { readTemplates } from '../../cve-import/read-templates.ts';
import type { Enrichment, TemplateFile, TemplateOutcome } from '../../cve-import/template.ts';
import { invalid } from '../../errors.ts';
import type { Caller } from '../../handlers.ts';
import { knownCves } from '../../store/cve.ts';
import { rememberImport } from '../../store/cve-imports.ts';
import type { Store } from '../../store/index.ts';
import { notify } from '../../store/notifications.ts';
import { enrich } from './enrich.ts';
import { type Prepared, prepareTemplate } from './prepare-template.ts';
import { storeTemplate } from './store-template.ts';

export interface ImportDeps {
  readonly store: Store;
  readonly bus: Bus;
}

const batchSize = 250;
const progressEvery = 500;

/**
 * Takes files one by one and stores their templates in batches, so that neither memory nor one transaction grows with
 * the import. The importer hears of every five hundred templates by a notification. Templates that are in are in, even if a
 * later file fails: a repeated import finds them unchanged.
 */
export const createImport = ({ store, bus }: ImportDeps, fields: CveImportFields, caller: Caller) => {
  const { format = 'auto', dryRun = false } = fields;
  const lines: CveImportLine[] = [];
  let batch: Prepared[] = [];
  let enrichments: Enrichment[] = [];
  let told = 0;
  let isKnown = false;
  const flush = async () => {
    const [prepared, facts] = [batch, enrichments];
    batch = [];
    enrichments = [];
    if (prepared.length === 0 && facts.length === 0) return;
    await store.change(bare(caller), async (tx) => {
      for (const item of prepared) lines.push(await storeTemplate(tx, item, fields));
      lines.push(...(await enrich(tx, facts, dryRun)));
      tx.note({
        format,
        dryRun,
        templates: prepared.length,
        sha256: prepared.map(({ sha256 }) => sha256).slice(0, 50),
      });
      if (lines.length - told < progressEvery || caller.userId === null) return;
      told = lines.length;
      const message = `${lines.length} signatures imported so far`;
      await notify(tx, bus, {
        severity: 'info',
        kind: 'cve.import.progress',
        message,
        audience: { userID: caller.userId },
      });
    });
  };

  const takeOutcome = (outcome: TemplateOutcome, { path, bytes }: TemplateFile, sha256: string) => {
    const prepared = prepareTemplate(outcome, { path, bytes, sha256, fields });
    if ('line' in prepared) lines.push(prepared.line);
    else batch.push(prepared.ready);
  };

  return {
    take: async (file: TemplateFile) => {
      const content = readTemplates(file, format);
      if (content.kind === 'unknown') return;
      isKnown = true;
      const sha256 = createHash('sha256').update(file.bytes).digest('hex');
      if (content.kind === 'list') {
        // Lists tell of hundreds of thousands of CVE; those without signatures are none of our business.
        const known = await knownCves(store.read);
        enrichments = [...enrichments, ...content.enrichments.filter(({ cveID }) => known.has(cveID))];
      }
      if (content.kind === 'templates') for (const outcome of content.outcomes) takeOutcome(outcome, file, sha256);
      if (batch.length >= batchSize || enrichments.length >= batchSize) await flush();
    },
    finish: async () => {
      if (!isKnown) {
        const message = 'holds nothing that can be recognised as templates or lists';
        throw invalid([{ path: '/file', code: 'UNKNOWN_FORMAT', message }], 'UNKNOWN_FORMAT');
      }
      await flush();
      return store.change(caller, async (tx) => {
        const report = reportOf(lines);
        if (!dryRun) await rememberImport(tx);
        const { created, updated, skipped } = report;
        tx.note({ format, dryRun, created, updated, skipped });
        if (told > 0) {
          const message = `import finished: ${created} new, ${updated} updated, ${skipped} skipped`;
          await notify(tx, bus, { severity: 'info', kind: 'cve.import', message, audience: { userID: caller.userId } });
        }
        return { data: report };
      });
    },
  };
};

/** Without the key of an idempotent request: that belongs to the last change, which knows the answer. */
const bare = ({ userId, address, requestId, operation }: Caller) => ({ userId, address, requestId, operation });

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
