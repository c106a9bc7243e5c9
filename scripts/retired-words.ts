import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { readSourceFiles } from './imports.ts';
import { allowedIdentifiers, type RetiredWord, retiredWords } from './retired-words-list.ts';
import { root } from './run.ts';

/** An identifier or a piece of prose, and where it begins. */
interface Text {
  kind: 'name' | 'prose';
  value: string;
  start: number;
}

const identifiers = new Set(['Identifier', 'PrivateIdentifier', 'JSXIdentifier']);

/** Collects identifiers and sentences of a syntax tree. A string without a space is a value, often of the wire. */
const collect = (node: object, texts: Text[]) => {
  const { type, name, value, start = 0 } = node as { type?: string; name?: string; value?: unknown; start?: number };
  if (identifiers.has(type ?? '') && name) texts.push({ kind: 'name', value: name, start });
  const prose = type === 'TemplateElement' ? (value as { raw: string }).raw : value;
  if (typeof prose === 'string' && prose.includes(' ')) texts.push({ kind: 'prose', value: prose, start });
  for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) collect(child, texts);
  return texts;
};

const wordsOf = (name: string) =>
  name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map((word) => word.toLowerCase());

const known = new Map<string, RetiredWord[]>();

const rulesBrokenByName = (name: string) =>
  retiredWords.filter(
    ({ words, identifiers }) => identifiers?.test(name) || wordsOf(name).some((word) => words?.test(word)),
  );

/** The rules a name or a sentence breaks. Names repeat, so their rules are remembered. */
const rulesBrokenBy = ({ kind, value }: Text) => {
  if (kind === 'prose') return retiredWords.filter(({ prose }) => prose?.test(value.toLowerCase()));
  const broken = known.get(value) ?? rulesBrokenByName(value);
  known.set(value, broken);
  return broken;
};

const isAllowed = ({ except = [] }: RetiredWord, path: string) => except.some(({ files }) => files.test(path));

const isAllowedName = (name: string, path: string) => {
  const allowed = Object.hasOwn(allowedIdentifiers, name) ? allowedIdentifiers[name] : undefined;
  return allowed !== undefined && (allowed.files?.test(path) ?? true);
};

const textsOf = (path: string, text: string): Text[] => {
  if (path.endsWith('.md'))
    return text.split('\n\n').map((value) => ({ kind: 'prose', value, start: text.indexOf(value) }));
  const { program, comments } = parseSync(path, text);
  return collect(program.body, [
    { kind: 'name', value: path.replace(/^.*\//, ''), start: 0 },
    ...comments.map(({ value, start }): Text => ({ kind: 'prose', value, start })),
  ]);
};

/** The retired words of a file, each as a line that says where it is and what to write. */
export const findRetiredWords = (path: string, text: string): string[] =>
  textsOf(path, text).flatMap((found) =>
    (isAllowedName(found.value, path) ? [] : rulesBrokenBy(found))
      .filter((rule) => !isAllowed(rule, path))
      .map(({ write }) => {
        const line = text.slice(0, found.start).split('\n').length;
        return `${path}:${line} ${found.value.replace(/\s+/g, ' ').trim().slice(0, 80)} (write: ${write})`;
      }),
  );

if (import.meta.main) {
  const documents = globSync('{*.md,docs/**/*.md}', { cwd: root });
  const files = [
    ...readSourceFiles().filter(({ path }) => !path.startsWith('scripts/retired-words')),
    ...documents.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  ];
  const problems = files.flatMap(({ path, text }) => findRetiredWords(path, text));
  for (const problem of problems) console.error(problem);
  console.log(`Checked ${files.length} files: ${problems.length} retired words`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
