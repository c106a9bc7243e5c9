import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A block of code in a document. */
interface Block {
  readonly language: string;
  readonly text: string;
}

export interface Document {
  readonly path: string;
  readonly blocks: readonly Block[];
}

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(([, , language = '', body = '']) => ({
    language,
    text: body,
  }));

/** The readme and all pages of the guide. */
export const documents: readonly Document[] = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).toSorted()].map(
  (path) => ({ path, blocks: blocksOf(readFileSync(join(root, path), 'utf8')) }),
);

/** Commands of a document, without comments and prompts; lines that go on are one command. */
export const commandsOf = ({ blocks }: Document): string[] =>
  blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Files that a page shows: blocks whose first line is a comment with the name. */
export const filesOf = ({ blocks }: Document): { name: string; text: string }[] =>
  blocks.flatMap(({ text }) => {
    const name = /^# ([\w-]+\.yaml)\n/.exec(text)?.[1];
    return name === undefined ? [] : [{ name, text }];
  });
