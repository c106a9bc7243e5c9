import { type RawBuilder, sql } from 'kysely';
import type { Engine, Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';

/** Must match the expression of the index, or the index is not used. */
const keyIdAt: Record<Engine, RawBuilder<number>> = {
  sqlite: sql`json_extract("detail", '$.ai.keyId')`,
  postgres: sql`("detail"::jsonb #>> '{ai,keyId}')::bigint`,
};
const riskAt: Record<Engine, RawBuilder<string>> = {
  sqlite: sql`json_extract("detail", '$.ai.risk')`,
  postgres: sql`"detail"::jsonb #>> '{ai,risk}'`,
};

interface Wanted {
  by: 'keys' | 'users';
  /** 0 = of every key. */
  keyId: number;
  /** 0 = of every user. */
  userId: number;
  /** '' = any, also below. */
  operation: string;
  outcome: string;
  risk: string;
  from: string;
  to: string;
}

const matching = (p: Wanted, engine: Engine) =>
  sql<boolean>`(operation like 'aiGateway.%') = (cast(${p.by} as text) = 'keys')
    and (cast(${p.keyId} as bigint) = 0 or ${keyIdAt[engine]} = ${p.keyId})
    and (cast(${p.userId} as bigint) = 0 or "userID" = ${p.userId})
    and (cast(${p.operation} as text) = '' or operation = ${p.operation})
    and (cast(${p.outcome} as text) = '' or outcome = ${p.outcome})
    and (cast(${p.risk} as text) = '' or ${riskAt[engine]} = ${p.risk})
    and at >= ${p.from} and at < ${p.to}`;

const pageIn = (order: 'asc' | 'desc') =>
  statement((db, p: Wanted & { limit: number; offset: number }, engine) =>
    db
      .selectFrom('audit')
      .selectAll()
      .select(sql<string | null>`(select "hash" from "audit" as b where b."id" = "audit"."id" - 1)`.as('prevHash'))
      .where(matching(p, engine))
      .orderBy('id', order)
      .limit(p.limit)
      .offset(p.offset),
  );
const pages = { asc: pageIn('asc'), desc: pageIn('desc') };
const counted = statement((db, p: Wanted, engine) =>
  db.selectFrom('audit').select(sql<number>`count(*)`.as('total')).where(matching(p, engine)),
);

interface AiDetail {
  ai?: Record<string, unknown>;
}

interface AuditQuery extends Partial<{ [K in keyof Wanted]: Wanted[K] | undefined }> {
  limit: number;
  offset: number;
}

/** Entries of calls of AI keys, or of everything else. */
export const auditPage = async (read: Executor, order: 'asc' | 'desc', { limit, offset, ...filters }: AuditQuery) => {
  const wanted: Wanted = {
    by: filters.by ?? 'keys',
    keyId: filters.keyId ?? 0,
    userId: filters.userId ?? 0,
    operation: filters.operation ?? '',
    outcome: filters.outcome ?? '',
    risk: filters.risk ?? '',
    from: filters.from ?? '',
    to: filters.to ?? '9999',
  };
  const [rows, count] = await Promise.all([
    pages[order].all(read, { ...wanted, limit, offset }),
    counted.first(read, wanted),
  ]);
  const data = rows.map(({ id, targets, detail, hash, prevHash, ...row }) => {
    const { at, userID, address, requestId, operation, outcome } = row;
    const { ai = {}, ...more } = JSON.parse(detail) as AiDetail;
    return {
      ...{ seq: Number(id), at, requestId, ownerID: userID, ip: address, operationId: operation, outcome },
      ...ai,
      targets: JSON.parse(targets) as Record<string, number[]>,
      ...(Object.keys(more).length > 0 && { detail: more }),
      prevHash: prevHash ?? '',
      hash,
    };
  });
  return { total: Number(count?.total ?? 0), data: data as Record<string, unknown>[] };
};
