import { parseSync } from 'vite';
import { readSourceFiles } from './imports.ts';
import { type RetiredWord, retiredWords } from './retired-words.ts';

/** An identifier or a piece of prose, and where it begins. */
interface Text {
  kind: 'names' | 'prose';
  value: string;
  start: number;
}

const identifiers = new Set(['Identifier', 'PrivateIdentifier', 'JSXIdentifier']);

/** Collects identifiers and sentences of a syntax tree. A string without a space is a value, often of the wire. */
const collect = (node: object, texts: Text[]) => {
  const { type, name, value, start = 0 } = node as { type?: string; name?: string; value?: unknown; start?: number };
  if (identifiers.has(type ?? '') && name) texts.push({ kind: 'names', value: name, start });
  const prose = type === 'TemplateElement' ? (value as { raw: string }).raw : value;
  if (typeof prose === 'string' && prose.includes(' ')) texts.push({ kind: 'prose', value: prose, start });
  for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) collect(child, texts);
  return texts;
};

const wordsOf = (name: string) =>
  name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map((word) => word.toLowerCase());

const known = new Map<string, RetiredWord[]>();

/** The rules a name or a sentence breaks. Names repeat, so their rules are remembered. */
const rulesBrokenBy = ({ kind, value }: Text) => {
  if (kind === 'prose') return retiredWords.filter(({ prose }) => prose?.test(value.toLowerCase()));
  const broken =
    known.get(value) ?? retiredWords.filter(({ names }) => wordsOf(value).some((word) => names?.test(word)));
  known.set(value, broken);
  return broken;
};

const isAllowed = ({ except }: RetiredWord, path: string) => except?.some(({ files }) => files.test(path)) ?? false;

/** The retired words of a file, each as a line that says where it is and what to write. */
export const findRetiredWords = (path: string, text: string): string[] => {
  const { program, comments } = parseSync(path, text);
  const texts = collect(program.body, [
    { kind: 'names', value: path.replace(/^.*\//, ''), start: 0 },
    ...comments.map(({ value, start }): Text => ({ kind: 'prose', value, start })),
  ]);
  return texts.flatMap((found) =>
    rulesBrokenBy(found)
      .filter((rule) => !isAllowed(rule, path))
      .map(({ write }) => {
        const line = text.slice(0, found.start).split('\n').length;
        return `${path}:${line} ${found.value.replace(/\s+/g, ' ').trim().slice(0, 80)} (write: ${write})`;
      }),
  );
};

if (import.meta.main) {
  const files = readSourceFiles();
  const problems = files.flatMap(({ path, text }) => findRetiredWords(path, text));
  for (const problem of problems) console.error(problem);
  console.log(`Checked ${files.length} files: ${problems.length} retired words`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
