import { isDeepStrictEqual } from 'node:util';
import type { api } from '@rushhour/contract';
import { assertAllFound, assertFresh, crudHandlers, cursorOf, pageRequestOf } from '../../crud.ts';
import { conflict, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import {
  assertIdle,
  findNetworkDraft,
  lightNetworks,
  macIdsOf,
  networkPolicies,
  networks,
  type StoredPolicy,
  usagePage,
} from '../../store/assets/networks.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { assertUnused, dropLinks, setLinks } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { checkNetwork } from './network-check.ts';
import { ipVersionOf, networkColumns } from './network-columns.ts';
import { assertValidNetwork, readPage } from './network-issues.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
}

const updateNetwork =
  ({ store }: Deps): Handlers<typeof api.networks>['update'] =>
  ({ body: { id, updatedAt, macPolicy, macOverrides, ...values } }, caller) =>
    store.change(caller, async (tx) => {
      const before = await mustFind(tx, id);
      assertFresh('network', before, updatedAt);
      await assertIdle(tx, 'network', id);
      const policy = changedPolicy(before, { macPolicy, macOverrides });
      // Values derived from the subnet or the gateway's MAC follow its change unless the body sets them.
      const keepsVersion = values.subnet === undefined;
      const keepsMode = values.gatewayMac === undefined && values.gatewayMacId === undefined;
      const draft = {
        ...before,
        ipVersion: keepsVersion ? before.ipVersion : null,
        gatewayMacMode: keepsMode ? before.gatewayMacMode : null,
        ...values,
        ...policy,
        name: values.name ?? before.name,
        subnet: values.subnet ?? before.subnet,
      };
      await assertValidNetwork(tx, draft);
      await networks.update(tx, id, { name: draft.name, ...networkColumns(draft) });
      await savePolicy(tx, before, policy);
      await linkMacs(tx, id, draft);
    });

const updateMacPolicy =
  ({ store }: Deps): Handlers<typeof api.networks>['updateMacPolicy'] =>
  ({ body: { id, l2PolicyVersion, ...changes } }, caller) =>
    store.change(caller, async (tx) => {
      const before = await mustFind(tx, id);
      if (l2PolicyVersion !== undefined && l2PolicyVersion !== before.l2PolicyVersion) {
        const message = 'the MAC policy was changed since you read it';
        throw conflict('STALE_OBJECT', message, { l2PolicyVersion: before.l2PolicyVersion });
      }
      await assertIdle(tx, 'network', id);
      const draft = { ...before, ...changedPolicy(before, changes) };
      await assertValidNetwork(tx, draft);
      await linkMacs(tx, id, draft);
      return { data: { l2PolicyVersion: await savePolicy(tx, before, draft) } };
    });

const listNetworks =
  ({ store }: Deps): Handlers<typeof api.networks>['list'] =>
  async ({ query: { ipVersion, type, ...query } }) => {
    const request = pageRequestOf(query, 'id');
    const { rows, total } = await networks.page(store.read, {
      ...request,
      key: request.key === 'subnet' ? 'firstAddress' : request.key,
      filters: { ipVersion: ipVersion && ipVersionOf(ipVersion), type },
    });
    return { cursor: cursorOf(request.limit, request.offset, total), data: rows };
  };

const createNetwork =
  ({ store }: Deps): Handlers<typeof api.networks>['create'] =>
  ({ body }, caller) =>
    store.change(caller, async (tx) => {
      const { name, macPolicy = null, macOverrides = [] } = body;
      await assertValidNetwork(tx, body);
      const id = await networks.insert(tx, { name, ...networkColumns(body) });
      await networkPolicies.insert(tx, { id, macPolicy, macOverrides, l2PolicyVersion: 1 });
      await linkMacs(tx, id, body);
      return { data: id };
    });

export const networkHandlers = (deps: Deps): Handlers<typeof api.networks> => {
  const { store, settings } = deps;
  return {
    ...crudHandlers('network', networks, store),
    list: listNetworks(deps),
    all: async () => {
      const { data, total } = await lightNetworks(store.read, settings.current().limits.allListMax);
      return { cursor: { count: data.length, currentPage: 1, totalPages: 1, totalRows: total }, data };
    },
    create: createNetwork(deps),
    update: updateNetwork(deps),
    removeMany: ({ body: { array } }, caller) =>
      store.change(caller, async (tx) => {
        await assertUnused(tx, 'network', array);
        assertAllFound('network', array, await networks.remove(tx, array));
        await networkPolicies.remove(tx, array);
        await dropLinks(tx, 'network', array);
        return { data: array };
      }),
    preview: ({ query, body }) => readPage(store.read, body, query),
    macPolicy: async ({ params }) => {
      const { macPolicy, macOverrides, l2PolicyVersion } = await mustFind(store.read, params.id);
      return { data: { macPolicy, macOverrides, l2PolicyVersion } };
    },
    updateMacPolicy: updateMacPolicy(deps),
    addresses: async ({ params, query }) => {
      const page = await readPage(store.read, await mustFind(store.read, params.id), query);
      return { ...page, rows: page.rows.map((row) => ({ ...row, holder: null })) };
    },
    validate: async ({ body }) => ({ data: await checkNetwork(store.read, body) }),
    usage: async ({ params, query: { count = 20, page = 1 } }) => {
      await mustFind(store.read, params.id);
      const offset = (page - 1) * count;
      const used = { kind: 'network', id: params.id } as const;
      const { rows, total } = await usagePage(store.read, used, { limit: count, offset });
      return { cursor: cursorOf(count, offset, total), data: rows };
    },
  };
};

const mustFind = (executor: Executor, id: number) => orNotFound(findNetworkDraft(executor, id), 'network', id);

type Policy = Pick<StoredPolicy, 'macPolicy' | 'macOverrides'>;
type PolicyChanges = { [K in keyof Policy]?: Policy[K] | null | undefined };

const changedPolicy = (before: Policy, { macPolicy, macOverrides }: PolicyChanges): Policy => ({
  macPolicy: macPolicy === undefined ? before.macPolicy : macPolicy,
  macOverrides: macOverrides === undefined ? before.macOverrides : (macOverrides ?? []),
});

/** Counts the version up when something changed, and answers the version in force. */
const savePolicy = async (tx: Change, before: StoredPolicy, { macPolicy, macOverrides }: Policy) => {
  const isSame = isDeepStrictEqual(macPolicy, before.macPolicy) && isDeepStrictEqual(macOverrides, before.macOverrides);
  if (isSame) return before.l2PolicyVersion;
  const l2PolicyVersion = before.l2PolicyVersion + 1;
  await networkPolicies.update(tx, before.id, { macPolicy, macOverrides, l2PolicyVersion });
  return l2PolicyVersion;
};

/** Links the MAC records a network uses, so that they cannot be deleted. */
const linkMacs = async (tx: Change, id: number, draft: { name: string } & Parameters<typeof macIdsOf>[0]) => {
  const used = [...macIdsOf(draft).values()].map((macId) => ({ kind: 'mac', id: macId }) as const);
  await setLinks(tx, { kind: 'network', id, name: draft.name }, used);
};
