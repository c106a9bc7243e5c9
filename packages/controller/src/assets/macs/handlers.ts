import type { api } from '@rushhour/contract';
import { issuesOf } from '@rushhour/pools';
import { allRecords, assertAllFound, assertFresh, crudHandlers, one } from '../../crud.ts';
import { conflict, notFound, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { macs, macsById } from '../../store/assets/macs.ts';
import { assertIdle, findNetworkDraft, macIdsOf } from '../../store/assets/networks.ts';
import type { Change } from '../../store/engine/change.ts';
import { assertUnused, referencesTo } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { chosenVendor, validMac } from './mac-record-checks.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
}

const noun = 'MAC record';

export const macHandlers = ({ store, settings }: Deps): Handlers<typeof api.macs> => ({
  ...crudHandlers(noun, macs, store),
  all: () => allRecords(macs, { store, settings }, (mac) => mac),
  get: async ({ params: { id } }) => {
    const [mac, users] = await Promise.all([macs.find(store.read, id), referencesTo(store.read, 'mac', [id])]);
    if (mac === undefined) throw notFound(noun, id);
    return one({ ...mac, usedBy: users.map(({ kind, id, name }) => ({ kind, id, name })) });
  },
  create: ({ body }, caller) => {
    const valid = validMac({ kind: 'address', ...body });
    const vendor = chosenVendor(body.vendor, valid.address);
    return store.change(caller, async (tx) => ({
      data: await macs.insert(tx, { description: '', tags: '', ...body, ...valid, vendor }),
    }));
  },
  update: ({ body: { id, updatedAt, ...values } }, caller) =>
    store.change(caller, async (tx) => {
      const before = await orNotFound(macs.find(tx, id), noun, id);
      assertFresh(noun, before, updatedAt);
      await assertIdle(tx, 'mac', id);
      const kind = values.kind === undefined ? before.kind : (values.kind ?? 'address');
      const keptCount = kind === before.kind ? before.count : undefined;
      const count = values.count === undefined ? keptCount : values.count;
      const valid = validMac({ kind, address: values.address ?? before.address, count });
      const given = values.vendor === undefined ? before.vendor : values.vendor;
      const vendor = chosenVendor(given, valid.address, before.address);
      await macs.update(tx, id, { ...values, ...valid, vendor });
      const isMoved = valid.address !== before.address || valid.count !== before.count || kind !== before.kind;
      if (isMoved) await assertNetworksStayValid(tx, id);
    }),
  removeMany: ({ body: { array } }, caller) =>
    store.change(caller, async (tx) => {
      await assertUnused(tx, 'mac', array);
      assertAllFound(noun, array, await macs.remove(tx, array));
      return { data: array };
    }),
});

/** The new address may collide with others of a network. */
const assertNetworksStayValid = async (tx: Change, macId: number) => {
  const users = await referencesTo(tx, 'mac', [macId], 10_000);
  for (const { kind, id, name } of users.filter((user) => user.kind === 'network')) {
    const draft = await findNetworkDraft(tx, id);
    if (draft === undefined) continue;
    const lookup = await macsById(tx, [...macIdsOf(draft).values()]);
    const [problem] = issuesOf(draft, lookup).filter(({ severity }) => severity === 'error');
    if (problem !== undefined) {
      const message = `network ${id} "${name}" could not use this record any more: ${problem.message}`;
      throw conflict('NETWORK_UNSOUND', message, { references: [{ kind, id, name }], issue: problem });
    }
  }
};
