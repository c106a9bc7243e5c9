import type { api, Settings } from '@rushhour/contract';
import type { Bus } from '../bus/local.ts';
import type { Caller } from '../caller.ts';
import { assertAllFound } from '../crud.ts';
import { conflict, forbidden, invalid } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { allows } from '../people/permissions.ts';
import { type AgentRow, agents } from '../store/agents/agents.ts';
import type { Change } from '../store/engine/change.ts';
import type { Store } from '../store/store.ts';
import { notify } from '../store/system/notifications.ts';
import type { SettingsStore } from '../store/system/settings.ts';
import { reservationOf } from './gateway/admission/reservations.ts';
import { instantOf } from './telemetry.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
}

type ReservationHandlers = Pick<Handlers<typeof api.agents>, 'reserve' | 'release'>;

const defaultMs = 3_600_000;

/** When a reservation ends. */
const endOf = (until: string | undefined, now: string, { maxReservationSec }: Settings['agents']) => {
  const nowMs = Date.parse(now);
  const latest = nowMs + maxReservationSec * 1000;
  if (until === undefined) return new Date(Math.min(nowMs + defaultMs, latest)).toISOString();
  const end = instantOf(until, '/until');
  const refuse = (code: string, message: string) => invalid([{ path: '/until', code, message }]);
  if (end <= nowMs) throw refuse('IN_PAST', 'must lie in the future');
  if (end > latest) throw refuse('TOO_LATE', `must not be more than ${maxReservationSec} seconds from now`);
  return new Date(end).toISOString();
};

const assertMayForce = (force: boolean, caller: Caller) => {
  if (!force || allows(caller.permissions, 'agents.reserveForce')) return;
  const permission = 'agents.reserveForce';
  throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
};

const findAll = async (tx: Change, ids: readonly number[]) =>
  new Map((await agents.findMany(tx, ids)).map((agent) => [agent.id, agent]));

const missing = (id: number) => ({ id, ok: false as const, code: 'NOT_FOUND', error: `agent ${id} not found` });

const take = async (
  { bus }: Deps,
  tx: Change,
  agent: AgentRow,
  options: { userID: number; reason: string; until: string; force: boolean },
) => {
  const { id, name } = agent;
  const present = reservationOf(agent, tx.now);
  if (present && present.userID !== options.userID) {
    const owner = present.user;
    const error = `reserved by ${owner.realName} until ${present.until}`;
    if (!options.force) return { id, ok: false as const, code: 'RESERVED', error, owner };
    await notify(tx, bus, {
      severity: 'warning',
      kind: 'agent.reservation',
      message: `Your reservation of agent "${name}" was taken over: ${options.reason || 'no reason given'}`,
      entity: { type: 'agent', id },
      audience: { userID: owner.id },
    });
  }
  const fence = agent.fence + 1;
  const { userID: reservedBy, reason: reservedReason, until: reservedUntil } = options;
  await agents.update(tx, id, { reservedBy, reservedReason, reservedUntil, fence });
  return { id, ok: true as const, fence };
};

const giveBack = async (tx: Change, agent: AgentRow, userID: number, force: boolean) => {
  const { id } = agent;
  const present = reservationOf(agent, tx.now);
  if (present && present.userID !== userID && !force) {
    return { id, ok: false as const, code: 'NOT_OWNER', error: `reserved by ${present.user.realName}` };
  }
  await agents.update(tx, id, { reservedBy: null, reservedReason: '', reservedUntil: null });
  return { id, ok: true as const };
};

export const reservationHandlers = (deps: Deps): ReservationHandlers => {
  const { store, settings } = deps;

  return {
    reserve: async ({ body: { array, reason = '', until, force = false } }, caller) => {
      assertMayForce(force, caller);
      return store.change(caller, async (tx) => {
        const end = endOf(until, tx.now, settings.current().agents);
        const found = await findAll(tx, array);
        const results = [];
        for (const id of array) {
          const agent = found.get(id);
          const options = { userID: caller.userId, reason, until: end, force };
          results.push(agent ? await take(deps, tx, agent, options) : missing(id));
        }
        if (results.some(({ ok }) => ok)) return { data: results };
        assertAllFound('agent', array, [...found.keys()]);
        const [first] = results.flatMap((result) => ('owner' in result ? [result] : []));
        throw conflict('RESERVED', `agent ${first?.id} is ${first?.error}`, { owner: first?.owner, results });
      });
    },
    release: async ({ body: { array, force = false } }, caller) => {
      assertMayForce(force, caller);
      return store.change(caller, async (tx) => {
        const found = await findAll(tx, array);
        const results = [];
        for (const id of array) {
          const agent = found.get(id);
          results.push(agent ? await giveBack(tx, agent, caller.userId, force) : missing(id));
        }
        if (results.some(({ ok }) => ok)) return { data: results };
        assertAllFound('agent', array, [...found.keys()]);
        throw forbidden('NOT_OWNER', 'the agents are reserved by others', { results });
      });
    },
  };
};
