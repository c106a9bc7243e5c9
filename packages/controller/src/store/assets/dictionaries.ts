import { sql } from 'kysely';
import type { Change } from '../engine/change.ts';
import type { Engine, Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import type { Tables } from '../tables/index.ts';

const equals = (column: string) => (value: string) => sql`${sql.ref(`t.${column}`)} = ${value}`;

export const dictionaries = createTable('dictionaries', {
  search: ['name', 'description', 'tags'],
  filters: {
    type: equals('type'),
    selection: equals('selection'),
    source: equals('source'),
    tag: (tag: string, engine: Engine) =>
      sql`${sql.raw(engine === 'sqlite' ? 'instr' : 'strpos')}(',' || ${sql.ref('t.tags')} || ',', ',' || cast(${tag} as text) || ',') > 0`,
    // Computed types may name their columns in the config alone.
    column: (column: string, engine: Engine) =>
      sql`(exists (${membersOf('t.columns', engine)} where ${sql.ref('m.value')} = ${column}) or (${sql.ref('t.type')} not like 'protocol.%' and exists (${entriesOf('t.config', engine)} where ${sql.ref('m.key')} = ${column})))`,
  },
});

const membersOf = (column: string, engine: Engine) =>
  engine === 'sqlite'
    ? sql`select 1 from json_each(${sql.ref(column)}) as m`
    : sql`select 1 from json_array_elements_text(${sql.ref(column)}::json) as m(value)`;

const entriesOf = (column: string, engine: Engine) =>
  engine === 'sqlite'
    ? sql`select 1 from json_each(${sql.ref(column)}) as m`
    : sql`select 1 from json_each(${sql.ref(column)}::json) as m`;

const rowsPerBlock = 1000;

/** Encoded rows to be inserted, as text: a fraction of the memory of the rows themselves. */
export interface RowBlocks {
  readonly count: number;
  /** Length of all rows as they are stored. */
  readonly bytes: number;
  readonly blocks: readonly string[];
}

/** Takes rows of a table or values of a list one by one. */
export const createRowBlocks = () => {
  const blocks: string[] = [];
  const progress = { count: 0, bytes: 0 };
  let open: string[] = [];
  const close = () => {
    if (open.length > 0) blocks.push(`[${open.join()}]`);
    open = [];
  };
  return {
    progress: progress as Readonly<typeof progress>,
    add: (row: string | readonly string[]) => {
      const text = JSON.stringify(row);
      open.push(text);
      progress.count += 1;
      progress.bytes += Buffer.byteLength(text);
      if (open.length === rowsPerBlock) close();
    },
    finish: (): RowBlocks => {
      close();
      return { ...progress, blocks };
    },
  };
};

const insertBlock = statement((db, _: Tables['dictionaryRows']) =>
  db.insertInto('dictionaryRows').values(everyColumn('dictionaryRows')),
);
const deleteBlocks = statement((db, p: { ids: string }, engine) =>
  db.deleteFrom('dictionaryRows').where(inList('dictionaryID', p.ids, engine)),
);
const selectBlocks = statement((db, p: { id: number; first: number; last: number }) =>
  db
    .selectFrom('dictionaryRows')
    .select('rows')
    .where('dictionaryID', '=', p.id)
    .where('block', '>=', p.first)
    .where('block', '<=', p.last)
    .orderBy('block'),
);

export const removeRows = (tx: Change, ids: readonly number[]) => deleteBlocks.all(tx, { ids: JSON.stringify(ids) });

/** Replaces the stored rows. */
export const replaceRows = async (tx: Change, id: number, { blocks }: RowBlocks) => {
  await removeRows(tx, [id]);
  for (const [block, rows] of blocks.entries()) await insertBlock.all(tx, { dictionaryID: id, block, rows });
};

/** Rows of a table (arrays) or values of a list (strings); only the blocks that hold them are read. */
export const readRows = async <Row extends string | string[]>(
  executor: Executor,
  id: number,
  { from, limit }: { from: number; limit: number },
): Promise<Row[]> => {
  if (limit === 0) return [];
  const first = Math.floor(from / rowsPerBlock);
  const last = Math.floor((from + limit - 1) / rowsPerBlock);
  const found = await selectBlocks.all(executor, { id, first, last });
  const start = from - first * rowsPerBlock;
  return found.flatMap(({ rows }) => JSON.parse(rows) as Row[]).slice(start, start + limit);
};
