import pg from 'pg';
import {
  type Compiled,
  type Database,
  type Executor,
  type Row,
  StorageUnavailable,
  UniqueViolation,
} from './database.ts';

const int8 = 20;
const numeric = 1700;

/** A database that does not answer a connection within this time cannot be reached. */
const connectMs = 30_000;
/**
 * A controller that is paused or cut off in a transaction holds locks that the others wait for: the database ends its
 * transaction after this time. Transactions that write do not wait for anything else. It is shorter than the lease of
 * runs: what a controller that is cut off holds never delays the one that takes its runs.
 */
const idleMs = 4000;

/**
 * Compiling a statement takes longer than most of ours run, and with the default costs, which are those of turning disks, all
 * of a table is read where an index is faster.
 */
const planning = '-c jit=off -c random_page_cost=1.1';

/** PostgreSQL through a pool; every statement is prepared once on each connection under its name. */
export const openPostgres = (url: string, { isReadOnly = false, maxIdleMs = idleMs } = {}): Database => {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: connectMs,
    ...(!isReadOnly && { idle_in_transaction_session_timeout: maxIdleMs }),
    options: `${planning}${isReadOnly ? ' -c default_transaction_read_only=on' : ''}`,
    types: {
      getTypeParser: (oid, format) => (oid === int8 || oid === numeric ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});

  const runOn = (target: pg.Pool | pg.PoolClient) => async (statement: Compiled, values: readonly unknown[]) => {
    try {
      const { rows } = await target.query({ name: statement.name, text: statement.sql, values: values as unknown[] });
      return rows as Row[];
    } catch (error) {
      throw translate(error);
    }
  };

  const transaction: Database['transaction'] = async (work) => {
    const client = await pool.connect().catch((error) => Promise.reject(translate(error)));
    const tx: Executor = { engine: 'postgres', run: runOn(client) };
    let broken: Error | undefined;
    // The pool listens only to connections that are idle. The next statement reports the error.
    const onError = () => {};
    client.on('error', onError);
    try {
      await client.query('BEGIN');
      const result = await work(tx);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure) => {
        broken = failure;
      });
      throw translate(error);
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  };

  return { engine: 'postgres', run: runOn(pool), transaction, close: () => pool.end() };
};

const translate = (error: unknown) => {
  const {
    code = '',
    constraint = '',
    message = '',
  } = error as { code?: string; constraint?: string; message?: string };
  if (code === '23505') return new UniqueViolation(constraint, error);
  const lost =
    /^(08|57P0|53|25P03)/.test(code) ||
    /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT)/.test(code) ||
    /Connection terminated|is not queryable|timeout exceeded when trying/.test(message);
  if (/^(28|3D)/.test(code)) {
    return new StorageUnavailable(`the database refuses the connection: ${message}`, { cause: error });
  }
  return lost ? new StorageUnavailable('the database cannot be reached', { cause: error }) : error;
};
