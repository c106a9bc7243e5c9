import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'vite';
import { expect, it } from 'vitest';

const sources = new URL('../', import.meta.url);
const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tsx'));
/** Attributes and members with visible text. */
const visible = /^(aria-label|label|title|placeholder|description|header|hint|alt|nothingFoundMessage|legend)$/;
const isText = (text: string) => /[A-Za-z]{2}/.test(text);

type Node = { type: string; start: number; [member: string]: unknown };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const member of Object.values(node)) {
    for (const child of Array.isArray(member) ? member : [member]) if (isNode(child)) yield* nodesOf(child);
  }
}

const nameOf = (node: unknown) => (isNode(node) ? String(node['name'] ?? node['value'] ?? '') : '');

/** A literal text that belongs in the catalogue. */
const literalOf = (node: Node): string | undefined => {
  if (node.type === 'JSXText') return String(node['value']).trim();
  if (node.type !== 'JSXAttribute' && node.type !== 'Property') return undefined;
  const name = nameOf(node.type === 'Property' ? node['key'] : node['name']);
  const value = node['value'];
  return visible.test(name) && isNode(value) && value.type === 'Literal' ? String(value['value']) : undefined;
};

const literalsIn = (name: string, source: string) =>
  [...nodesOf(parseSync(name, source).program as unknown as Node)]
    .map(literalOf)
    .filter((text): text is string => text !== undefined && isText(text))
    .map((text) => `${name}: ${text}`);

it('finds literal texts in a component', () => {
  expect(
    literalsIn('a.tsx', 'const a = <b title="Read me" id="x">Hello {name}</b>; const c = { header: "Name" };'),
  ).toEqual(['a.tsx: Read me', 'a.tsx: Hello', 'a.tsx: Name']);
});

it('finds none in the interface: all texts are in the catalogue', () => {
  expect(files.length).toBeGreaterThan(40);
  expect(files.flatMap((path) => literalsIn(path, readFileSync(new URL(path, sources), 'utf8')))).toEqual([]);
});
