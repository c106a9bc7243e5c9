import { agentStatus } from '@rushhour/contract';
import type { AgentFacts, EngineAbility } from '@rushhour/protocol';
import { sql } from 'kysely';
import type { Engine, Executor } from '../engine/database.ts';
import { hasTags, inList, inTexts, jsonRows } from '../engine/expressions.ts';
import { encodeRow } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import { tables } from '../tables/index.ts';

export const agentTokens = createTable('agentTokens', { search: ['name', 'tags'] });

const use = statement((db, p: { hash: string; now: string }) =>
  db
    .updateTable('agentTokens')
    .set((eb) => ({ usesLeft: eb('usesLeft', '-', 1) }))
    .where('hash', '=', p.hash)
    .where('usesLeft', '>', 0)
    .where('expiresAt', '>', p.now)
    .returning(['id', 'tags', 'issuerID']),
);
const find = statement((db, p: { hash: string }) =>
  db.selectFrom('agentTokens').select(['usesLeft', 'expiresAt']).where('hash', '=', p.hash),
);

/** Uses a token once, if it has a use left; two agents cannot both take the last one. */
export const takeToken = (tx: Executor, hash: string, now: string) => use.first(tx, { hash, now });

export const findToken = (executor: Executor, hash: string) => find.first(executor, { hash });

const all = statement((db, _: object) =>
  db.selectFrom('agents').select(['id', 'engines']).where('deletedAt', 'is', null),
);
const one = statement((db, p: { id: number }) =>
  db.selectFrom('agents').select(['id', 'engines']).where('deletedAt', 'is', null).where('id', '=', p.id),
);

/** Engine abilities of all enrolled agents or of one; undefined when there is no such agent. */
export const engineAbilities = async (
  executor: Executor,
  agentID: number | undefined,
): Promise<EngineAbility[][] | undefined> => {
  const rows = agentID === undefined ? await all.all(executor, {}) : await one.all(executor, { id: agentID });
  if (agentID !== undefined && rows.length === 0) return undefined;
  return rows.map(({ engines }) => JSON.parse(engines) as EngineAbility[]);
};

const ofOwner = (column: string) =>
  sql<
    string | null
  >`(select ${sql.ref(`owner.${column}`)} from users as owner where owner.id = ${sql.ref('t.reservedBy')})`;

const isFree = (now: unknown) =>
  sql`(t.status = ${sql.lit(agentStatus.online)} and (${sql.ref('t.reservedUntil')} is null or ${sql.ref('t.reservedUntil')} <= ${now}))`;

const enginesAt = (engine: Engine) =>
  engine === 'sqlite'
    ? sql`(select json_extract(value, '$.engine') as engine, json_extract(value, '$.available') as available from json_each(${sql.ref('t.engines')})) as ability where ability.available = 1`
    : sql`json_to_recordset(${sql.ref('t.engines')}::json) as ability(engine text, available boolean) where ability.available`;

/** Lists are given as JSON texts, the time as a timestamp. */
export const agents = createTable('agents', {
  search: ['name', 'hostname', 'comment', 'tags', 'uuid'],
  computed: {
    ownerEmail: () => ofOwner('email'),
    ownerName: () => ofOwner('realName'),
  },
  filters: {
    ids: (ids: string, engine) => inList('t.id', ids, engine),
    status: (statuses: string, engine) => inList('t.status', statuses, engine),
    tag: (tags: string, engine) => hasTags('t.tags', tags, engine),
    /** One of these engines is available. */
    engines: (names: string, engine) =>
      sql`exists (select 1 from ${enginesAt(engine)} and ${inTexts('ability.engine', names, engine)})`,
    freeAt: (now: string) => isFree(now),
    takenAt: (now: string) => sql`not ${isFree(now)}`,
  },
});
export type AgentRow = NonNullable<Awaited<ReturnType<typeof agents.find>>>;

const byUuid = statement((db, p: { uuid: string }) =>
  db.selectFrom('agents').select('id').where('uuid', '=', p.uuid).where('deletedAt', 'is', null),
);
export const findAgentByUuid = async (executor: Executor, uuid: string) => {
  const row = await byUuid.first(executor, { uuid });
  return row && agents.find(executor, row.id);
};

const namesLike = statement((db, p: { start: string; length: number }) =>
  db
    .selectFrom('agents')
    .select('name')
    .where('deletedAt', 'is', null)
    .where(sql<boolean>`substr(name, 1, ${p.length}) = ${p.start}`),
);

/** The name itself, or the name followed by the first free number. */
export const freeAgentName = async (executor: Executor, wanted: string) => {
  const rows = await namesLike.all(executor, { start: wanted, length: [...wanted].length });
  const taken = new Set(rows.map(({ name }) => name));
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}-${number}`)) number += 1;
  return `${wanted}-${number}`;
};

/** The columns an agent reports about its machine. */
export const factColumns = (facts: AgentFacts) => {
  const { hostname, machineId, version, os, kernel, arch, cpuCores, memoryMb } = facts;
  const { addresses, interfaces, engines, system } = facts;
  return {
    ...{ hostname, machineId, version, os, kernel, arch, cpuCores, memoryMb },
    ...{ addresses, interfaces, engines, system },
  };
};
type FactColumns = { [K in keyof ReturnType<typeof factColumns>]: string };

const setFacts = statement((db, p: FactColumns & { id: number }) =>
  db
    .updateTable('agents')
    .set({
      hostname: p.hostname,
      machineId: p.machineId,
      version: p.version,
      os: p.os,
      kernel: p.kernel,
      arch: p.arch,
      cpuCores: p.cpuCores as never,
      memoryMb: p.memoryMb as never,
      addresses: p.addresses,
      interfaces: p.interfaces,
      engines: p.engines,
      system: p.system,
    })
    .where('id', '=', p.id),
);
/** Facts and statuses are reported by agents, not changed by users: they leave no audit entry. */
export const keepFacts = (tx: Executor, id: number, facts: AgentFacts) =>
  setFacts.all(tx, { ...(encodeRow(tables.agents, factColumns(facts)) as FactColumns), id });

const welcome = statement((db, p: { id: number; bootId: string; status: number; now: string }) =>
  db
    .updateTable('agents')
    .set({ bootId: p.bootId, status: p.status, lastSeenAt: p.now })
    .where('id', '=', p.id)
    .where('isBlocked', '=', 0)
    .where('deletedAt', 'is', null)
    .returning('id'),
);
/** False when the agent was blocked or removed meanwhile. */
export const keepArrival = async (tx: Executor, arrival: { id: number; bootId: string; status: number; now: string }) =>
  (await welcome.first(tx, arrival)) !== undefined;

const setStatus = statement((db, p: { id: number; status: number }) =>
  db.updateTable('agents').set({ status: p.status }).where('id', '=', p.id).where('isBlocked', '=', 0),
);
export const keepStatus = (tx: Executor, id: number, status: number) => setStatus.all(tx, { id, status });

const resetStatuses = statement((db, p: { offline: number; present: string }, engine) =>
  db
    .updateTable('agents')
    .set({ status: p.offline })
    .where('isBlocked', '=', 0)
    .where('lastSeenAt', 'is not', null)
    .where('status', '<>', p.offline)
    .where((eb) => eb.not(inList('id', p.present, engine))),
);
/** After a start no agent is connected but those of other controllers. */
export const markOfflineExcept = (tx: Executor, present: readonly number[]) =>
  resetStatuses.all(tx, { offline: agentStatus.offline, present: JSON.stringify(present) });

export interface Sighting {
  id: number;
  lastSeenAt: string;
  clockOffsetMs: number;
  roundTripMs: number;
  status: number;
}
const see = statement((db, p: { seen: string }, engine) => ({
  compile: () =>
    sql<object>`update agents set ${sql.ref('lastSeenAt')} = ${sql.ref('seen.lastSeenAt')}, ${sql.ref('clockOffsetMs')} = ${sql.ref('seen.clockOffsetMs')}, ${sql.ref('roundTripMs')} = ${sql.ref('seen.roundTripMs')}, status = seen.status from ${jsonRows(
      p.seen,
      'seen',
      {
        id: 'bigint',
        lastSeenAt: 'text',
        clockOffsetMs: 'double precision',
        roundTripMs: 'double precision',
        status: 'bigint',
      },
      engine,
    )} where agents.id = seen.id and ${sql.ref('isBlocked')} = 0`.compile(db),
}));
/** Stores when agents were last heard, all in one statement. */
export const keepSightings = (tx: Executor, seen: readonly Sighting[]) => see.all(tx, { seen: JSON.stringify(seen) });
