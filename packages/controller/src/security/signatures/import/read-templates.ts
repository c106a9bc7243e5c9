import type { CveFormat } from '@rushhour/contract';
import { readCveJson5, readEpssCsv, readKevJson } from './cve-lists.ts';
import { detectFormat } from './detect-format.ts';
import { readFtw } from './ftw.ts';
import { readGotestwaf } from './gotestwaf.ts';
import { readHttpRaw } from './http-raw.ts';
import { readNative } from './native.ts';
import { readNuclei } from './nuclei.ts';
import { readPcapSessions } from './pcap-session.ts';
import { type Enrichment, Refusal, type TemplateFile, type TemplateOutcome } from './template.ts';

type Known = Exclude<CveFormat, 'auto'>;

const templateReaders: Partial<Record<Known, (file: TemplateFile) => TemplateOutcome[]>> = {
  nuclei: readNuclei,
  ftw: readFtw,
  gotestwaf: readGotestwaf,
  'http-raw': readHttpRaw,
  pcap: readPcapSessions,
  native: readNative,
};

const listReaders: Partial<Record<Known, (bytes: Buffer) => Enrichment[]>> = {
  'cve-json5': readCveJson5,
  'epss-csv': readEpssCsv,
  'kev-json': readKevJson,
};

export type FileContent =
  | { readonly kind: 'templates'; readonly outcomes: readonly TemplateOutcome[] }
  | { readonly kind: 'list'; readonly enrichments: readonly Enrichment[] }
  | { readonly kind: 'unknown' };

/** What a file holds. Templates that are refused are among its outcomes; a list is refused as a whole. */
export const readTemplates = (file: TemplateFile, format: CveFormat): FileContent => {
  const known = format === 'auto' ? detectFormat(file.path, file.bytes) : format;
  if (known === undefined) return { kind: 'unknown' };
  const readList = listReaders[known];
  if (readList === undefined) return { kind: 'templates', outcomes: templateReaders[known]?.(file) ?? [] };
  try {
    return { kind: 'list', enrichments: readList(file.bytes) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'templates', outcomes: [{ templateId: file.path, refused: error.message }] };
  }
};
