import { type Content, headOf } from '../content.ts';
import { findDelimiter } from '../preview/preview-csv.ts';
import { jsonKindOf } from '../preview/preview-har.ts';
import { findTextEncoding } from '../preview/text-encoding.ts';
import { findSignature, type Sniffed } from './magic-bytes.ts';

const headBytes = 64 * 1024;
/** How far into a JSON document `log.entries` is looked for. */
const jsonBytes = 8 * 1024 * 1024;

const unknown: Sniffed = { kind: 'binary', mime: 'application/octet-stream' };

/** Determines kind and media type from the content alone. */
export const sniff = async (content: Content): Promise<Sniffed> => {
  const head = await headOf(content, headBytes);
  const signed = findSignature(head);
  if (signed) return signed;
  const encoding = findTextEncoding(head);
  if (!encoding) return unknown;
  const text = new TextDecoder(encoding).decode(head);
  return (await findJson(content, text)) ?? findTable(text, head.length === content.size) ?? markup(text);
};

const findJson = async (content: Content, text: string): Promise<Sniffed | undefined> => {
  if (!/^\s*[{[]/.test(text)) return undefined;
  const stream = await content.read(0, Math.min(jsonBytes, content.size));
  const kind = await jsonKindOf(stream);
  if (kind === 'none') return undefined;
  return kind === 'har' ? { kind, mime: 'application/har+json' } : { kind, mime: 'application/json' };
};

const findTable = (text: string, isWhole: boolean): Sniffed | undefined => {
  const delimiter = findDelimiter(text, isWhole);
  if (!delimiter) return undefined;
  return { kind: 'csv', mime: delimiter === '\t' ? 'text/tab-separated-values' : 'text/csv' };
};

const markup = (text: string): Sniffed => {
  const start = text.trimStart().slice(0, 200).toLowerCase();
  if (/^<(!doctype html|html)[\s>]/.test(start)) return { kind: 'text', mime: 'text/html' };
  if (start.startsWith('<?xml')) return { kind: 'text', mime: 'text/xml' };
  return { kind: 'text', mime: 'text/plain' };
};

/** Whether a browser may show it in place: never what it could run. */
export const canShowInline = (mime: string) =>
  ['text/plain', 'text/csv', 'text/tab-separated-values', 'application/json', 'application/har+json'].includes(mime);
