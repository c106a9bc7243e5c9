import type { CveFormat } from '@rushhour/contract';
import { readCveJson5, readEpssCsv, readKevJson } from './cve-lists.ts';
import { readFtw } from './ftw.ts';
import { readGotestwaf } from './gotestwaf.ts';
import { readNative } from './native.ts';
import { readNetwork } from './network.ts';
import { readNuclei } from './nuclei.ts';
import { readPcapSessions } from './pcap-session.ts';
import { readHttpRaw } from './raw-request.ts';
import { type Enrichment, Refusal, type TemplateFile, type TemplateOutcome } from './template.ts';

type Known = Exclude<CveFormat, 'auto'>;

const pcapMagics = ['d4c3b2a1', 'a1b2c3d4', '4d3cb2a1', 'a1b23c4d', '0a0d0d0a'];

/**
 * Recognises the format of a file by its name and first bytes; undefined for files that are no template, such as a
 * README.
 */
export const detectFormat = (path: string, bytes: Buffer): Known | undefined => {
  if (pcapMagics.includes(bytes.subarray(0, 4).toString('hex'))) return 'pcap';
  const head = bytes.subarray(0, 65_536).toString('latin1');
  if (/\.(?:black|white)$/i.test(path)) return 'http-raw';
  if (/^\s*[[{]/.test(head) && !/\.ya?ml$/i.test(path)) return jsonFormat(head);
  if (/^(?:#[^\n]*\n)*cve,epss\b/i.test(head)) return 'epss-csv';
  if (/^[A-Z]{3,10} \S+.* HTTP\/\d(?:\.\d)?\r?$/m.test(head.split('\n', 1)[0] ?? '')) return 'http-raw';
  return /\.ya?ml$/i.test(path) || /^(?:#[^\n]*\n|---[^\n]*\n|\s*\n)*[\w-]+\s*:/.test(head)
    ? yamlFormat(head)
    : undefined;
};

const jsonFormat = (head: string): Known | undefined => {
  if (/"dataType"\s*:\s*"CVE_RECORD"|"cveMetadata"/.test(head)) return 'cve-json5';
  if (/"vulnerabilities"\s*:/.test(head) && /"catalogVersion"|"cveID"/.test(head)) return 'kev-json';
  return /"signatures"\s*:|"requests"\s*:/.test(head) ? 'native' : undefined;
};

const yamlFormat = (head: string): Known | undefined => {
  if (/^tests\s*:/m.test(head) && /^(?:rule_id|meta)\s*:/m.test(head)) return 'ftw';
  if (/^payload\s*:/m.test(head) && /^(?:encoder|placeholder)\s*:/m.test(head)) return 'gotestwaf';
  return /^id\s*:/m.test(head) || /^info\s*:/m.test(head) ? 'nuclei' : undefined;
};

const templateReaders: Partial<Record<Known, (file: TemplateFile) => TemplateOutcome[]>> = {
  nuclei: readNuclei,
  ftw: readFtw,
  gotestwaf: readGotestwaf,
  'http-raw': readHttpRaw,
  pcap: readPcapSessions,
  native: readNative,
  network: readNetwork,
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

/** The content of a file. Refused templates are among its outcomes; a list is refused as a whole. */
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
