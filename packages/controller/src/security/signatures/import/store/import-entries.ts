import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { CveImportFields, CveImportLine } from '@rushhour/contract';
import { spool } from '../../../../assets/archives/archive-source.ts';
import { invalid } from '../../../../errors.ts';
import { readTemplates } from '../read-templates.ts';
import type { Enrichment, TemplateFile } from '../template.ts';
import { type Prepared, prepareTemplate } from './prepare-template.ts';

/** What an upload comes to, one piece at a time: a template to store, one that is refused, or facts about a CVE. */
export type ImportEntry =
  | { readonly ready: Prepared }
  | { readonly line: CveImportLine }
  | { readonly facts: readonly Enrichment[] };

interface Reading {
  readonly fields: CveImportFields;
  /** Every CVE that has a signature: lists tell of hundreds of thousands of others. */
  readonly known: ReadonlySet<string>;
  /** Told now and then how many templates have been read. */
  onProgress(templates: number): Promise<void>;
}

/**
 * Reads every file before anything is stored, so that an archive that is unsound at its end leaves nothing, and keeps
 * what they come to on disk: memory does not grow with the upload, and nothing is unpacked twice.
 */
export const spoolEntries = (files: AsyncIterable<TemplateFile>, reading: Reading): Promise<FileHandle> =>
  spool(linesOf(files, reading));

async function* linesOf(files: AsyncIterable<TemplateFile>, reading: Reading): AsyncGenerator<Buffer> {
  let [templates, isKnown] = [0, false];
  for await (const file of files) {
    const entries = entriesOf(file, reading);
    isKnown ||= entries !== undefined;
    if (entries === undefined || entries.length === 0) continue;
    templates += entries.length;
    yield Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await reading.onProgress(templates);
  }
  if (isKnown) return;
  const message = 'holds nothing that can be recognised as templates or lists';
  throw invalid([{ path: '/file', code: 'UNKNOWN_FORMAT', message }], 'UNKNOWN_FORMAT');
}

/** Undefined for a file that is none of ours, such as a README. */
const entriesOf = (file: TemplateFile, { fields, known }: Reading): ImportEntry[] | undefined => {
  const content = readTemplates(file, fields.format ?? 'auto');
  if (content.kind === 'unknown') return undefined;
  if (content.kind === 'list') return [{ facts: content.enrichments.filter(({ cveID }) => known.has(cveID)) }];
  const sha256 = createHash('sha256').update(file.bytes).digest('hex');
  return rawOnce(content.outcomes.map((outcome) => prepareTemplate(outcome, { ...file, sha256, fields })));
};

/** A file of hundreds of tests is kept with the first of them only. */
const rawOnce = (entries: readonly ReturnType<typeof prepareTemplate>[]): ImportEntry[] => {
  const first = entries.findIndex((entry) => 'ready' in entry);
  return entries.map((entry, i) => {
    if (!('ready' in entry) || i === first) return entry;
    const { raw: _, ...ready } = entry.ready;
    return { ready };
  });
};

/** The same entries again, in their order. */
export async function* spooledEntries(spooled: FileHandle): AsyncGenerator<ImportEntry> {
  const input = spooled.createReadStream({ start: 0, autoClose: false });
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
    yield JSON.parse(line) as ImportEntry;
}
