import { sql } from 'kysely';
import type { Engine } from './database.ts';

/** `column in (the ids of a JSON array)`: one statement for any number of ids. */
export const inList = (column: string, ids: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${ids}))`
    : sql<boolean>`${sql.ref(column)} in (select value::bigint from json_array_elements_text(${ids}::json))`;

/** `column in (the texts of a JSON array)`. */
export const inTexts = (column: string, texts: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${texts}))`
    : sql<boolean>`${sql.ref(column)} in (select json_array_elements_text(${texts}::json))`;

/** `column`, tags joined by commas, has all the tags of a JSON array. */
export const hasTags = (column: string, tags: unknown, engine: Engine) => {
  const wanted =
    engine === 'sqlite'
      ? sql`json_each(${tags}) as wanted`
      : sql`json_array_elements_text(${tags}::json) as wanted(value)`;
  const find = sql.raw(engine === 'sqlite' ? 'instr' : 'strpos');
  return sql<boolean>`not exists (select 1 from ${wanted} where ${find}(',' || ${sql.ref(column)} || ',', ',' || ${sql.ref('wanted.value')} || ',') = 0)`;
};

/** `column contains pattern`, upper and lower case alike; `patternOf` folds and escapes the pattern. */
export const contains = (column: string, pattern: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`fold(${sql.ref(column)}) like ${pattern} escape '\\'`
    : sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;

/** The same for patterns of ASCII alone: SQLite folds these itself, in a quarter of the time. */
export const containsAscii = (column: string, pattern: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`${sql.ref(column)} like ${pattern} escape '\\'`
    : contains(column, pattern, engine);

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
export const isAscii = (text: string) => /^[\x00-\x7f]*$/.test(text);

export const patternOf = (search: string) => `%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;

/** All three characters in a row of a search, as SQLite's index of them is asked; empty when it cannot be used. */
export const trigramsOf = (search: string) => {
  const folded = search.toLowerCase();
  if (!isAscii(search) || folded.length < 3) return '';
  const parts = Array.from({ length: folded.length - 2 }, (_, i) => folded.slice(i, i + 3));
  return [...new Set(parts)].map((part) => `"${part.replaceAll('"', '""')}"`).join(' AND ');
};

/** Text sorts by code point on both engines, whatever the locale of the database. */
export const textOrder = (column: string, engine: Engine) =>
  engine === 'postgres' ? sql`${sql.ref(column)} collate "C"` : sql.ref(column);

/** A member of a JSON object as text; null when it has none. */
export const jsonMember = (column: string, name: string, engine: Engine) =>
  engine === 'sqlite'
    ? sql<string | null>`json_extract(${sql.ref(column)}, ${sql.lit(`$.${name}`)})`
    : sql<string | null>`(${sql.ref(column)}::json ->> ${sql.lit(name)})`;

/** The objects of a JSON array as rows called `alias`: one statement for any number of them. */
export const jsonRows = (
  rows: unknown,
  alias: string,
  columns: Record<string, 'bigint' | 'double precision' | 'text'>,
  engine: Engine,
) => {
  const names = Object.keys(columns);
  if (engine === 'sqlite') {
    const members = names.map((name) => sql`json_extract(value, ${sql.lit(`$.${name}`)}) as ${sql.ref(name)}`);
    return sql`(select ${sql.join(members)} from json_each(${rows})) as ${sql.ref(alias)}`;
  }
  const types = names.map((name) => sql`${sql.ref(name)} ${sql.raw(columns[name] ?? 'text')}`);
  return sql`json_to_recordset(${rows}::json) as ${sql.ref(alias)}(${sql.join(types)})`;
};
