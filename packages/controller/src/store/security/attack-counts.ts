import type { AttackResult } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';
import { isOfSignature } from './attack-results.ts';

interface Which {
  readonly runID?: number | undefined;
  readonly taskID?: number | undefined;
  readonly kind?: string | undefined;
  readonly refID?: number | undefined;
  readonly signatureID?: number | undefined;
  readonly device?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}
type Where = { [K in keyof Which]-?: NonNullable<Which[K]> | null };

const isNumber = (column: string, value: unknown) =>
  sql`(cast(${value} as bigint) is null or ${sql.ref(column)} = ${value})`;
const isText = (column: string, operator: '=' | '>=' | '<', value: unknown) =>
  sql`(cast(${value} as text) is null or ${sql.ref(column)} ${sql.raw(operator)} ${value})`;

const fits = (p: Where) =>
  sql<boolean>`${isNumber('runID', p.runID)} and ${isNumber('taskID', p.taskID)} and ${isNumber('refID', p.refID)}
    and (cast(${p.signatureID} as bigint) is null or ${isOfSignature(p.signatureID)})
    and ${isText('kind', '=', p.kind)} and ${isText('device', '=', p.device)}
    and ${isText('startedAt', '>=', p.from)} and ${isText('startedAt', '<', p.to)}`;

const groups = {
  // PostgreSQL cannot group by a bare constant.
  all: sql<string>`cast('' as text)`,
  refID: sql<string>`cast("refID" as text)`,
  device: sql<string>`"device"`,
  severity: sql<string>`"severity"`,
  category: sql<string>`"category"`,
  month: sql<string>`substr("startedAt", 1, 7)`,
} as const;
export type AttackGrouping = keyof typeof groups;

const counting = (group: (typeof groups)[AttackGrouping]) =>
  statement((db, p: Where) =>
    db
      .selectFrom('attackResults')
      .select([group.as('group'), 'outcome', 'detected', sql<number>`count(*)`.as('total')])
      .where(fits(p))
      .groupBy([group, 'outcome', 'detected']),
  );
const countings: Readonly<Record<AttackGrouping, ReturnType<typeof counting>>> = {
  all: counting(groups.all),
  refID: counting(groups.refID),
  device: counting(groups.device),
  severity: counting(groups.severity),
  category: counting(groups.category),
  month: counting(groups.month),
};

export interface AttackCount {
  readonly group: string;
  readonly outcome: AttackResult['outcome'];
  readonly detected: string;
  readonly total: number;
}

/** Counts of outcomes, by group. */
export const countAttackResults = async (
  read: Executor,
  which: Which,
  by: AttackGrouping = 'all',
): Promise<AttackCount[]> => {
  const nothing: Where = {
    ...{ runID: null, taskID: null, kind: null, refID: null, signatureID: null },
    ...{ device: null, from: null, to: null },
  };
  const given = Object.fromEntries(Object.entries(which).filter(([, value]) => value !== undefined));
  const rows = await countings[by].all(read, { ...nothing, ...given });
  return rows.map((row) => ({ ...row, total: Number(row.total) }) as AttackCount);
};
