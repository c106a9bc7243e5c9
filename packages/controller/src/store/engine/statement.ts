import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type TableName, type Tables, tables } from '../tables/index.ts';
import type { Compiled, Engine, Executor } from './database.ts';

/** Kysely as a typed compiler of SQL, one for each engine. Statements are run by our own executors. */
export const builderOf: Record<Engine, Kysely<Tables>> = {
  sqlite: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
};

/** Stands where a value will be; compiled into a placeholder, replaced by the value at each run. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Compilable<R> {
  compile(): CompiledQuery<R>;
}

export interface Statement<P, R> {
  all(executor: Executor, parameters: P): Promise<R[]>;
  first(executor: Executor, parameters: P): Promise<R | undefined>;
}

const firstOf = <R>(rows: R[]) => rows[0];

interface Plan extends Compiled {
  readonly slots: readonly unknown[];
}

let count = 0;
/** How many statements were compiled so far; a request must not raise it. */
export const compiledCount = () => count;

/** A placeholder for every column of a table, for `insertInto(…).values(…)`. */
export const everyColumn = <Name extends TableName>(name: Name) =>
  Object.fromEntries(
    Object.keys(tables[name]).map((column) => [column, new Placeholder(column)]),
  ) as unknown as Tables[Name];

const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });

/** A statement written once and compiled at first use on each engine: `statement((db, p: { id: number }) => …)`. */
export const statement = <P, R>(
  build: (db: Kysely<Tables>, p: P, engine: Engine) => Compilable<R>,
): Statement<P, R> => {
  const plans: Partial<Record<Engine, Plan>> = {};
  const planFor = (engine: Engine) => {
    const { sql, parameters } = build(builderOf[engine], placeholders as P, engine).compile();
    count += 1;
    return { name: `s${count}`, sql, slots: parameters };
  };
  const all = (executor: Executor, parameters: P) => {
    plans[executor.engine] ??= planFor(executor.engine);
    const plan = plans[executor.engine] as Plan;
    const values = plan.slots.map((slot) =>
      slot instanceof Placeholder ? (parameters as Record<string, unknown>)[slot.name] : slot,
    );
    return executor.run(plan, values) as Promise<R[]>;
  };
  return { all, first: (executor, parameters) => all(executor, parameters).then(firstOf) };
};
