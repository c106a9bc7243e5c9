import type { Section } from './section.ts';

export const encodings = ['none', 'url', 'base64', 'hex', 'html', 'json'] as const;
export type Encoding = (typeof encodings)[number];

/** Processing of a cell: trimmed, then cut to `maxLength` characters, then encoded. */
export interface ColumnRule {
  readonly encode: Encoding;
  readonly trim: boolean;
  readonly maxLength: number | undefined;
  /** Not part of a drawn row; may still hold weights. */
  readonly hidden: boolean;
  /** The cell's characters are bytes (latin1), not text. */
  readonly isBinary: boolean;
}

export function readColumnRule(section: Section): ColumnRule {
  return {
    encode: section.choice('encode', encodings) ?? 'none',
    trim: section.flag('trim'),
    maxLength: section.integer('maxLength', 0),
    hidden: section.flag('hidden'),
    isBinary: section.raw('kind') === 'bytes',
  };
}

export function applyRule(rule: ColumnRule, cell: string): string {
  let text = rule.trim ? cell.trim() : cell;
  if (rule.maxLength !== undefined && text.length > rule.maxLength) text = [...text].slice(0, rule.maxLength).join('');
  return rule.encode === 'none' ? text : encoders[rule.encode](text, rule.isBinary);
}

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const encoders: Readonly<Record<Exclude<Encoding, 'none'>, (text: string, isBinary: boolean) => string>> = {
  url: (text, isBinary) => (isBinary ? percentBytes(text) : encodeURIComponent(text.toWellFormed())),
  base64: (text, isBinary) => bytesOf(text, isBinary).toString('base64'),
  hex: (text, isBinary) => bytesOf(text, isBinary).toString('hex'),
  html: (text) => text.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character),
  json: (text) => JSON.stringify(text).slice(1, -1),
};

function bytesOf(text: string, isBinary: boolean): Buffer {
  return Buffer.from(text, isBinary ? 'latin1' : 'utf8');
}

function percentBytes(text: string): string {
  return text.replace(/[^A-Za-z0-9_.~-]/gs, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}
