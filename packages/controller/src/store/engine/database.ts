export type Engine = 'sqlite' | 'postgres';

/** A compiled statement. Engines prepare each one once and keep it by identity. */
export interface Compiled {
  readonly name: string;
  readonly sql: string;
}

export type Row = Record<string, unknown>;

/** Something that runs statements: the database itself, or an open transaction. */
export interface Executor {
  readonly engine: Engine;
  /**
   * Identifies the state that `run` reads: while it is the same object, equal reads have equal results.
   * Absent where that cannot be known.
   */
  readonly snapshot?: object;
  run(statement: Compiled, values: readonly unknown[]): Promise<Row[]>;
}

export interface TransactionOptions {
  /**
   * Others that wait may be written to the disk with it, which is faster where many come at once. `work` must neither wait
   * for another transaction nor read with anything but `tx`: what others before it wrote may not be on disk yet.
   */
  readonly sharesCommit?: boolean;
}

export interface Database extends Executor {
  /** All or nothing: what `work` throws undoes what it did. */
  transaction<T>(work: (tx: Executor) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Returns free space within the file to the disk, a little at a time; how many bytes. Absent where there is no file. */
  shrink?(): Promise<number>;
  close(): Promise<void>;
}

/** A unique index refused a row. `index` is its name, `<table>_<column>_unique` by our convention. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  readonly column: string;

  constructor(index: string, cause: unknown) {
    super(`unique index ${index} refused a row`, { cause });
    this.column = /_(\w+)_unique$/.exec(index)?.[1] ?? index;
  }
}

/** The disk is full or the database cannot be reached: nothing was written, trying again may help. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}
