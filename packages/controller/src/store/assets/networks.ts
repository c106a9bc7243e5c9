import { sql } from 'kysely';
import { conflict } from '../../errors.ts';
import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import type { Kind } from '../engine/links.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

export const networks = createTable('networks', {
  search: ['name', 'subnet', 'gateway', 'pattern'],
  filters: {
    ipVersion: (version: string) => sql`${sql.ref('t.ipVersion')} = ${version}`,
    type: (type: number) => sql`${sql.ref('t.type')} = ${type}`,
  },
});

/** MAC policy and overrides, by the id of their network. */
export const networkPolicies = createTable('networkPolicies');

export type StoredNetwork = NonNullable<Awaited<ReturnType<typeof networks.find>>>;
export type StoredPolicy = NonNullable<Awaited<ReturnType<typeof networkPolicies.find>>>;

/** A stored network together with its policy: all that its addresses depend on. */
export const findNetworkDraft = async (executor: Executor, id: number) => {
  const [network, policy] = await Promise.all([networks.find(executor, id), networkPolicies.find(executor, id)]);
  return network && policy && { ...network, ...policy };
};

interface MacUser {
  gatewayMacId?: number | null | undefined;
  macPolicy?: { macId?: number | null | undefined; macIds?: readonly number[] | null | undefined } | null | undefined;
  macOverrides?: readonly { macId?: number | null | undefined }[] | null | undefined;
}

/** The MAC records a network refers to, by JSON pointer. */
export const macIdsOf = ({ gatewayMacId, macPolicy, macOverrides }: MacUser): Map<string, number> => {
  const named = new Map<string, number>();
  const add = (path: string, id: number | null | undefined) => {
    if (id) named.set(path, id);
  };
  add('/gatewayMacId', gatewayMacId);
  add('/macPolicy/macId', macPolicy?.macId);
  for (const [i, id] of (macPolicy?.macIds ?? []).entries()) add(`/macPolicy/macIds/${i}`, id);
  for (const [i, { macId }] of (macOverrides ?? []).entries()) add(`/macOverrides/${i}/macId`, macId);
  return named;
};

const light = statement((db, p: { limit: number }) =>
  db
    .selectFrom('networks as t')
    .leftJoin('users as issuer', 'issuer.id', 't.issuerID')
    .select(['t.id', 't.name', 't.type', 't.ipVersion', 't.subnet', 't.gateway', 't.gatewayMac', 't.gatewayMacId'])
    .select(['t.gatewayMacMode', 't.pattern', 't.ports', 't.spoofing', 't.issuerID', 't.createdAt', 't.updatedAt'])
    .select(['issuer.email as issuerEmail', 'issuer.realName as issuerName'])
    .orderBy('t.id')
    .limit(p.limit),
);
const counted = statement((db, _: object) => db.selectFrom('networks').select(sql<number>`count(*)`.as('total')));

/** The first networks without reading their excludes, of which there may be thousands each. */
export const lightNetworks = async (executor: Executor, limit: number) => {
  const [rows, count] = await Promise.all([light.all(executor, { limit }), counted.first(executor, {})]);
  const data = rows.map(({ issuerEmail, issuerName, ...row }) => ({
    ...row,
    gatewayMacMode: row.gatewayMacMode as StoredNetwork['gatewayMacMode'],
    excludes: [],
    spoofing: row.spoofing === 1,
    issuer:
      row.issuerID === null || issuerEmail === null
        ? null
        : { id: row.issuerID, email: issuerEmail, realName: issuerName ?? '' },
  }));
  return { data, total: Number(count?.total ?? 0) };
};

const named = statement((db, p: { name: string }) => db.selectFrom('networks').select('id').where('name', '=', p.name));

export const findNetworkByName = async (executor: Executor, name: string) =>
  (await named.first(executor, { name }))?.id;

interface AddressSpan {
  ipVersion: string;
  firstAddress: string;
  lastAddress: string;
}

// The digits are lower-case hexadecimal, which every collation sorts alike.
const meeting = statement((db, p: AddressSpan & { except: number; limit: number }) =>
  db
    .selectFrom('networks')
    .select('id')
    .where('ipVersion', '=', p.ipVersion)
    .where('firstAddress', '<=', p.lastAddress)
    .where('lastAddress', '>=', p.firstAddress)
    .where('id', '!=', p.except)
    .orderBy('id')
    .limit(p.limit),
);

/** Networks whose subnets share addresses with this span, the oldest first. */
export const networksMeeting = async (executor: Executor, span: AddressSpan, except: number, limit: number) => {
  const rows = await meeting.all(executor, { ...span, except, limit });
  return networks.findMany(
    executor,
    rows.map(({ id }) => id),
  );
};

const users = statement((db, p: { kind: string; id: number; limit: number; offset: number }) =>
  db
    .selectFrom('links')
    .leftJoin('tasks', (join) => join.onRef('tasks.id', '=', 'links.fromID').on('links.fromKind', '=', 'task'))
    .select(['fromKind as kind', 'fromID as id', 'fromName as name', 'tasks.status'])
    .where('toKind', '=', p.kind)
    .where('toID', '=', p.id)
    .orderBy('fromKind')
    .orderBy('fromID')
    .limit(p.limit)
    .offset(p.offset),
);
const userCount = statement((db, p: { kind: string; id: number }) =>
  db
    .selectFrom('links')
    .select(sql<number>`count(*)`.as('total'))
    .where('toKind', '=', p.kind)
    .where('toID', '=', p.id),
);

/** A page of the records that use this one, with the status of tasks. */
export const usagePage = async (
  executor: Executor,
  used: { kind: Kind; id: number },
  page: { limit: number; offset: number },
) => {
  const [rows, count] = await Promise.all([users.all(executor, { ...used, ...page }), userCount.first(executor, used)]);
  return { rows, total: Number(count?.total ?? 0) };
};

// A task uses a MAC record through its networks, so one intermediate link is followed.
const activeUsers = statement((db, p: { kind: string; id: number }) => {
  const direct = db.selectFrom('links').select('fromID').where('toKind', '=', p.kind).where('toID', '=', p.id);
  const through = db
    .selectFrom('links as outer')
    .innerJoin('links as inner', (join) =>
      join.onRef('inner.fromKind', '=', 'outer.toKind').onRef('inner.fromID', '=', 'outer.toID'),
    )
    .select('outer.fromID')
    .where('inner.toKind', '=', p.kind)
    .where('inner.toID', '=', p.id);
  return db
    .selectFrom('tasks')
    .select(['id', 'comment'])
    .where('deletedAt', 'is', null)
    .where('status', '>=', 1)
    .where('status', '<=', 6)
    .where((eb) =>
      eb.or([
        eb('id', 'in', direct.where('fromKind', '=', 'task')),
        eb('id', 'in', through.where('outer.fromKind', '=', 'task')),
      ]),
    )
    .orderBy('id')
    .limit(100);
});

/** Refuses to change what a queued or running task uses. */
export const assertIdle = async (tx: Change, kind: Kind, id: number) => {
  const tasks = await activeUsers.all(tx, { kind, id });
  if (tasks.length === 0) return;
  throw conflict('IN_USE', `a running task uses this ${kind}: stop it first`, {
    references: tasks.map((task) => ({ kind: 'task', id: task.id, name: task.comment })),
  });
};
