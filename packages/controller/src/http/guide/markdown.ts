import { anchorOf, escapeHtml, inlineHtml, type Resolve } from './inline.ts';

/** A block found at a line: its HTML, and the line after it. */
interface Block {
  readonly html: string;
  readonly next: number;
}

type BlockReader = (lines: readonly string[], at: number, resolve: Resolve) => Block | undefined;

const itemPattern = /^(\s*)([-*]|\d+\.)\s+(.*)$/;
const isBlank = (line: string | undefined) => line === undefined || line.trim() === '';
const startsBlock = (line: string) => /^(#{1,6} |```|\||> |---$)/.test(line) || itemPattern.test(line);

const heading: BlockReader = (lines, at, resolve) => {
  const [, marks = '', text = ''] = /^(#{1,6}) (.*)$/.exec(lines[at] ?? '') ?? [];
  if (marks === '') return undefined;
  const level = marks.length;
  return { html: `<h${level} id="${anchorOf(text)}">${inlineHtml(text, resolve)}</h${level}>`, next: at + 1 };
};

const fence: BlockReader = (lines, at) => {
  const [, indent = '', language = ''] = /^(\s*)```(\w*)/.exec(lines[at] ?? '') ?? [];
  if (!/^\s*```/.test(lines[at] ?? '')) return undefined;
  let end = at + 1;
  while (end < lines.length && !/^\s*```\s*$/.test(lines[end] ?? '')) end += 1;
  const code = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  const kind = language === '' ? '' : ` class="language-${language}"`;
  return { html: `<pre><code${kind}>${escapeHtml(code.join('\n'))}\n</code></pre>`, next: end + 1 };
};

/** The cells of a row; a `\|` and what is between backticks does not separate them. */
const cellsOf = (line: string) =>
  (
    line
      .trim()
      .slice(1)
      .match(/(?:\\\||`[^`]*`|[^|`])*(?:\||$)/g) ?? []
  )
    .filter((cell) => cell !== '')
    .map((cell) => cell.replace(/\|$/, '').replaceAll('\\|', '|').trim());

const table: BlockReader = (lines, at, resolve) => {
  if (!/^\|/.test(lines[at] ?? '') || !/^\|[\s:|-]+\|\s*$/.test(lines[at + 1] ?? '')) return undefined;
  const row = (tag: string, line: string) =>
    `<tr>${cellsOf(line)
      .map((cell) => `<${tag}>${inlineHtml(cell, resolve)}</${tag}>`)
      .join('')}</tr>`;
  let end = at + 2;
  while (/^\|/.test(lines[end] ?? '')) end += 1;
  const body = lines.slice(at + 2, end).map((line) => row('td', line));
  const head = `<thead>${row('th', lines[at] ?? '')}</thead>`;
  return { html: `<div class="wide"><table>${head}<tbody>${body.join('')}</tbody></table></div>`, next: end };
};

const rule: BlockReader = (lines, at) => (lines[at] === '---' ? { html: '<hr>', next: at + 1 } : undefined);

const quote: BlockReader = (lines, at, resolve) => {
  let end = at;
  while (/^> ?/.test(lines[end] ?? '')) end += 1;
  if (end === at) return undefined;
  const inside = lines.slice(at, end).map((line) => line.replace(/^> ?/, ''));
  return { html: `<blockquote>${blocksHtml(inside, resolve)}</blockquote>`, next: end };
};

/** The lines of one item: those that follow it and are indented deeper, and blank lines between them. */
const itemEnd = (lines: readonly string[], at: number, indent: number) => {
  let end = at + 1;
  while (end < lines.length) {
    const line = lines[end] ?? '';
    const depth = line.length - line.trimStart().length;
    const goesOn = isBlank(line) ? /^\s/.test(lines[end + 1] ?? '') : depth > indent;
    if (!goesOn && (isBlank(line) || startsBlock(line.trimStart()) || isBlank(lines[end - 1]))) break;
    end += 1;
  }
  return end;
};

const list: BlockReader = (lines, at, resolve) => {
  const [, indent = '', mark = ''] = itemPattern.exec(lines[at] ?? '') ?? [];
  if (mark === '') return undefined;
  const tag = /\d/.test(mark) ? 'ol' : 'ul';
  const items: string[] = [];
  let next = at;
  for (;;) {
    const [, depth, own = '', text = ''] = itemPattern.exec(lines[next] ?? '') ?? [];
    if (depth !== indent || /\d/.test(own) !== /\d/.test(mark)) break;
    const end = itemEnd(lines, next, indent.length);
    const rest = lines.slice(next + 1, end);
    const width = Math.min(
      ...rest.filter((line) => !isBlank(line)).map((line) => line.length - line.trimStart().length),
    );
    const inside = [text, ...rest.map((line) => line.slice(Math.min(width, line.length - line.trimStart().length)))];
    // A single paragraph needs no tags of its own.
    items.push(`<li>${blocksHtml(inside, resolve).replace(/^<p>((?:(?!<p>)[\s\S])*?)<\/p>/, '$1')}</li>`);
    next = end;
    if (isBlank(lines[next]) && itemPattern.exec(lines[next + 1] ?? '')?.[1] === indent) next += 1;
  }
  const first = tag === 'ol' && mark !== '1.' ? ` start="${Number.parseInt(mark, 10)}"` : '';
  return { html: `<${tag}${first}>${items.join('')}</${tag}>`, next };
};

const paragraph = (lines: readonly string[], at: number, resolve: Resolve): Block => {
  let next = at + 1;
  while (!isBlank(lines[next]) && !startsBlock(lines[next] ?? '')) next += 1;
  const text = lines.slice(at, next).map((line) => line.trim());
  return { html: `<p>${inlineHtml(text.join('\n'), resolve)}</p>`, next };
};

const readers: readonly BlockReader[] = [fence, heading, table, rule, quote, list];

const blocksHtml = (lines: readonly string[], resolve: Resolve): string => {
  const html: string[] = [];
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    const read = () => {
      for (const reader of readers) {
        const block = reader(lines, at, resolve);
        if (block !== undefined) return block;
      }
      return paragraph(lines, at, resolve);
    };
    const block = read();
    html.push(block.html);
    at = block.next;
  }
  return html.join('\n');
};

/**
 * Markdown as the documents of this project use it: headings, paragraphs, lists, tables, code, quotes, links and pictures.
 * Everything else, raw HTML included, is shown as text; comments are left out.
 */
export const markdownHtml = (text: string, resolve: Resolve): string =>
  blocksHtml(text.replace(/<!--[\s\S]*?-->\n?/g, '').split('\n'), resolve);
