/** How one column is stored and read. `cleared` is what an update with `null` stores. */
export interface Column<Value = unknown, Stored = unknown> {
  encode?(value: Value): Stored;
  decode?(stored: Stored): Value;
  readonly cleared: Value | null;
  /** Types only. */
  readonly value?: Value;
  readonly stored?: Stored;
}

export type Columns = Record<string, Column>;
type ValueOf<C> = C extends Column<infer Value, infer _> ? Value : never;
type StoredOf<C> = C extends Column<infer _, infer Stored> ? Stored : never;
export type RecordOf<C extends Columns> = { -readonly [K in keyof C]: ValueOf<C[K]> };
export type StoredRow<C extends Columns> = { -readonly [K in keyof C]: StoredOf<C[K]> };

export const text: Column<string, string> = { cleared: '' };
export const maybeText: Column<string | null, string | null> = { cleared: null };
export const integer: Column<number, number> = { cleared: 0 };
export const maybeInteger: Column<number | null, number | null> = { cleared: null };

/** Bytes as they are: BLOB or bytea. */
export const bytes: Column<Uint8Array, Uint8Array> = { cleared: new Uint8Array() };

/** Fractions. */
export const real: Column<number, number> = { cleared: 0 };

/** Booleans are 0 and 1 on both engines. */
export const flag: Column<boolean, number> = {
  encode: (value) => (value ? 1 : 0),
  decode: (stored) => stored === 1,
  cleared: false,
};

/** A JSON text on both engines. */
export const json = <T>(cleared: T): Column<T, string> => ({
  encode: (value) => JSON.stringify(value),
  decode: (stored) => JSON.parse(stored) as T,
  cleared,
});
