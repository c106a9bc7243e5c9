import { type Document, isScalar, parseAllDocuments, parseDocument, visit } from 'yaml';
import { Refusal } from './template.ts';

const maxBytes = 2 * 1_048_576;
const maxAliases = 20;
const maxDepth = 64;

/** Reads untrusted YAML: without tags, with limited aliases, depth and size. */
export const readYaml = (bytes: Buffer): unknown =>
  reading(bytes, (text) => {
    const document = parsed(text);
    keepDigits(document);
    return contentOf(document);
  });

/** The same of a file with any number of documents. */
export const readYamlDocuments = (bytes: Buffer): unknown[] =>
  reading(bytes, (text) => (parseAllDocuments(text, options) as Document[]).map(contentOf));

const contentOf = (document: Document): unknown => {
  const [problem] = document.errors;
  if (problem) throw new Refusal(`the template is no YAML: ${firstLine(problem.message)}`);
  return document.toJS({ maxAliasCount: maxAliases });
};

const reading = <T>(bytes: Buffer, read: (text: string) => T): T => {
  if (bytes.length > maxBytes) throw new Refusal(`the template has more than ${maxBytes} bytes`);
  const text = bytes.toString('utf8');
  if (depthOf(text) > maxDepth) throw new Refusal(`the template is nested more than ${maxDepth} deep`);
  try {
    return read(text);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof ReferenceError) throw new Refusal('the template has too many aliases');
    if (error instanceof RangeError) throw new Refusal('the template is nested too deep');
    throw new Refusal(`the template is no YAML: ${firstLine((error as Error).message)}`);
  }
};

const options = { schema: 'core', merge: false, uniqueKeys: true, logLevel: 'silent' } as const;

/** Other readers of YAML take an escaped apostrophe in double quotes: it is corrected where this one refuses it. */
const parsed = (text: string): Document => {
  const document = parseDocument(text, options);
  const wrong = new Set(
    document.errors.flatMap(({ code, linePos }) => (code === 'BAD_DQ_ESCAPE' ? (linePos?.[0].line ?? []) : [])),
  );
  if (wrong.size === 0) return document;
  const lines = text.split('\n').map((line, i) => (wrong.has(i + 1) ? line.replaceAll("\\'", "'") : line));
  return parseDocument(lines.join('\n'), options);
};

/** `data: 00000000` is a text of eight digits. */
const keepDigits = (document: Document) =>
  visit(document, {
    Pair(_, { key, value }) {
      const isData = isScalar(key) && key.value === 'data';
      if (isData && isScalar(value) && typeof value.value === 'number')
        value.value = value.source ?? String(value.value);
    },
  });

/** An upper bound of the depth, by brackets and indentation, in one pass. */
const depthOf = (text: string) => {
  let [depth, deepest] = [0, 0];
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) depth += 1;
    else if ((code === 0x5d || code === 0x7d) && depth > 0) depth -= 1;
    else if (code === 0x0a) depth = 0;
    if (depth > deepest) deepest = depth;
  }
  const indents = text.match(/^ *(?:- )*/gm) ?? [];
  const indented = indents.reduce((max, indent) => Math.max(max, indent.length / 2), 0);
  return Math.max(deepest, indented > 2000 ? maxDepth + 1 : 0);
};

const firstLine = (message: string) => message.split('\n', 1)[0]?.slice(0, 200) ?? '';
