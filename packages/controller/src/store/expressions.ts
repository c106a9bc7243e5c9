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

/** `column contains pattern`, upper and lower case alike; `patternOf` folds and escapes the pattern. */
export const contains = (column: string, pattern: unknown, engine: Engine) =>
  engine === 'sqlite'
    ? sql<boolean>`fold(${sql.ref(column)}) like ${pattern} escape '\\'`
    : sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;

export const patternOf = (search: string) => `%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;

/** Text sorts by code point on both engines, whatever the locale of the database. */
export const textOrder = (column: string, engine: Engine) =>
  engine === 'postgres' ? sql`${sql.ref(column)} collate "C"` : sql.ref(column);
