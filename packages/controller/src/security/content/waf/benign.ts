import { documents, markdown, queryProse, snippets } from './benign-code.ts';
import { entries, everyday, products, titles } from './benign-everyday.ts';
import { oddities, sentences } from './benign-texts.ts';
import { names, searches } from './benign-words.ts';

/** A harmless text and the kind it is of. */
export interface BenignText {
  readonly kind: string;
  readonly text: string;
}

const kinds: Readonly<Record<string, readonly string[]>> = {
  everyday,
  product: products,
  title: titles,
  entry: entries,
  name: names,
  search: searches,
  sentence: sentences,
  oddity: oddities,
  code: snippets,
  markdown,
  document: documents,
  'query prose': queryProse,
};

/** Texts no device should stop, several hundred of them; kinds take turns, so that any beginning is a fair sample. */
export const benignTexts: readonly BenignText[] = (() => {
  const all = Object.entries(kinds).flatMap(([kind, texts]) =>
    texts.map((text, index) => ({ kind, text, rank: (index + 0.5) / texts.length })),
  );
  return all.toSorted((a, b) => a.rank - b.rank).map(({ kind, text }) => ({ kind, text }));
})();
