import type { Change } from './change.ts';
import type { Columns } from './column.ts';

export interface LightUser {
  id: number;
  email: string;
  realName: string;
}

type Values = Record<string, unknown>;

/** A shallow copy. Unlike `{ ...row }` this stays fast when rows of many tables pass through the same call site. */
export const copyOf = <T extends object>(row: T): T => Object.assign({}, row);

/** The column with the author of a record: the document spells it `issuerID` on most records and `issuerId` on a few. */
export const issuerNameOf = (columns: Columns) => ['issuerID', 'issuerId'].find((name) => name in columns);

/** What a new record is stamped with: when and by whom it was made. */
export const stampsOf = (columns: Columns, tx: Change): Values => {
  const issuerName = issuerNameOf(columns);
  return {
    ...('createdAt' in columns && { createdAt: tx.now }),
    ...('updatedAt' in columns && { updatedAt: tx.now }),
    ...(issuerName && { [issuerName]: tx.userId }),
  };
};

/** Turns members into what the database stores; `null` becomes the column's cleared value. */
export const encodeRow = (columns: Columns, record: Values): Values => {
  const encoded: Values = {};
  for (const [name, value] of Object.entries(record)) {
    const column = columns[name];
    if (column === undefined || value === undefined) continue;
    const stored = value === null ? column.cleared : value;
    encoded[name] = stored === null || column.encode === undefined ? stored : column.encode(stored);
  }
  return encoded;
};

/** Turns a row, in place, into the record, with its author where the table has one. */
export const decoderOf = (columns: Columns) => {
  const coded = Object.entries(columns).filter(([, column]) => column.decode !== undefined);
  const issuerName = issuerNameOf(columns);
  return (row: Values): Values => {
    for (const [name, column] of coded) if (row[name] !== null) row[name] = column.decode?.(row[name]);
    if (issuerName !== undefined) {
      row['issuer'] =
        row['issuerEmail'] === null || row[issuerName] === null
          ? null
          : { id: row[issuerName], email: row['issuerEmail'], realName: row['issuerName'] };
    }
    return row;
  };
};
