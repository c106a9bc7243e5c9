import type { api, TunnelDraft } from '@rushhour/contract';
import {
  allRecords,
  assertAllFound,
  assertFresh,
  crudHandlers,
  cursorOf,
  one,
  pageRequestOf,
  shownPage,
} from '../../crud.ts';
import { invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { certificates } from '../../store/assets/certificates.ts';
import { assertIdle, usagePage } from '../../store/assets/networks.ts';
import { openParams, type StoredTunnel, sealParams, tunnels } from '../../store/assets/tunnels.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { assertUnused, dropLinks, setLinks } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { assertValidTunnel, checkTunnel, mergeParams, unmaskParams } from './check.ts';
import { tunnelCatalogue } from './tunnel-types.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
}

const createTunnelContext = (deps: Deps) => {
  const { store } = deps;
  const { secrets } = store;
  return { ...deps, secrets };
};
type TunnelContext = ReturnType<typeof createTunnelContext>;

const updateTunnel =
  ({ store, secrets }: TunnelContext): Handlers<typeof api.tunnels>['update'] =>
  ({ body: { id, updatedAt, params: given, ...values } }, caller) =>
    store.change(caller, async (tx) => {
      const before = await orNotFound(tunnels.find(tx, id), 'tunnel', id);
      assertFresh('tunnel', before, updatedAt);
      await assertIdle(tx, 'tunnel', id);
      const type = values.type ?? before.type;
      // Parameters of another type do not apply.
      const kept = type === before.type ? openParams(before, secrets) : {};
      const params = given === null ? {} : mergeParams(type, kept, given ?? {});
      const draft = { ...before, ...withDefaults(values), params };
      assertValidTunnel(draft);
      await assertCertificate(tx, draft.certificateID);
      await tunnels.update(tx, id, { ...withDefaults(values), ...sealParams(type, id, params, secrets) });
      await linkCertificate(tx, draft);
    });

const createTunnel =
  ({ store, secrets }: TunnelContext): Handlers<typeof api.tunnels>['create'] =>
  ({ body: { params: given = {}, ...members } }, caller) => {
    const params = mergeParams(members.type, {}, given);
    const draft = { ...defaults, ...withDefaults(members), name: members.name, type: members.type, params };
    assertValidTunnel(draft);
    return store.change(caller, async (tx) => {
      await assertCertificate(tx, draft.certificateID);
      const id = await tunnels.insert(tx, { ...draft, params: {}, secrets: '' });
      await tunnels.update(tx, id, sealParams(draft.type, id, params, secrets));
      await linkCertificate(tx, { ...draft, id });
      return { data: id };
    });
  };

const validateTunnel =
  ({ store, secrets }: TunnelContext): Handlers<typeof api.tunnels>['validate'] =>
  async ({ body: { id, params: given = {}, ...members } }) => {
    const stored = id ? await tunnels.find(store.read, id) : undefined;
    const kept = stored?.type === members.type ? openParams(stored, secrets) : {};
    const { issues, ...checked } = checkTunnel({ ...members, params: unmaskParams(members.type, kept, given) });
    const unknown = await certificateIssues(store.read, members.certificateID);
    const errors = unknown.map((issue) => ({ ...issue, severity: 'error' as const }));
    return { data: { ...checked, valid: checked.valid && errors.length === 0, issues: [...issues, ...errors] } };
  };

const removeTunnels =
  ({ store }: TunnelContext): Handlers<typeof api.tunnels>['removeMany'] =>
  ({ body: { array } }, caller) =>
    store.change(caller, async (tx) => {
      await assertUnused(tx, 'tunnel', array);
      assertAllFound('tunnel', array, await tunnels.remove(tx, array));
      await dropLinks(tx, 'tunnel', array);
      return { data: array };
    });

export const tunnelHandlers = (deps: Deps): Handlers<typeof api.tunnels> => {
  const context = createTunnelContext(deps);
  const { store, settings } = context;

  return {
    ...crudHandlers('tunnel', tunnels, store),
    list: ({ query }) => shownPage(tunnels, store.read, pageRequestOf(query, 'id'), readable),
    all: () =>
      allRecords(tunnels, { store, settings }, (tunnel) => ({ ...readable(tunnel), endpoints: '', params: {} })),
    get: async ({ params }) =>
      one(readable(await orNotFound(tunnels.find(store.read, params.id), 'tunnel', params.id))),
    create: createTunnel(context),
    update: updateTunnel(context),
    removeMany: removeTunnels(context),
    types: () => {
      const count = tunnelCatalogue.length;
      return { cursor: { count, currentPage: 1, totalPages: 1, totalRows: count }, data: tunnelCatalogue };
    },
    validate: validateTunnel(context),
    usage: async ({ params, query: { count = 20, page = 1 } }) => {
      await orNotFound(tunnels.find(store.read, params.id), 'tunnel', params.id);
      const offset = (page - 1) * count;
      const used = { kind: 'tunnel', id: params.id } as const;
      const { rows, total } = await usagePage(store.read, used, { limit: count, offset });
      return { cursor: cursorOf(count, offset, total), data: rows };
    },
  };
};

const defaults = {
  description: '',
  clientIp: '',
  serverIp: '',
  endpoints: '',
  count: 0,
  mtu: 1500,
  certificateID: null as number | null,
  tags: '',
};

type Members = { [K in keyof TunnelDraft]?: TunnelDraft[K] | null };
type Columns = Partial<Pick<StoredTunnel, keyof typeof defaults | 'name' | 'type'>>;

/** The given values; null and certificate 0 restore the default. */
const withDefaults = (values: Omit<Members, 'params'>): Columns =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) =>
      value === null || (name === 'certificateID' && value === 0)
        ? [name, defaults[name as keyof typeof defaults]]
        : [name, value],
    ),
  );

/** The record as anyone may read it: `params` carry masks already. */
const readable = ({ secrets, ...tunnel }: StoredTunnel) => ({ ...tunnel, secretSet: secrets !== '' });

const certificateIssues = async (executor: Executor, id: number | null | undefined) => {
  if (!id || (await certificates.find(executor, id)) !== undefined) return [];
  return [{ path: '/certificateID', code: 'CERTIFICATE_NOT_FOUND', message: `there is no certificate ${id}` }];
};

const assertCertificate = async (tx: Change, id: number | null) => {
  const issues = await certificateIssues(tx, id);
  if (issues.length > 0) throw invalid(issues);
};

const linkCertificate = (
  tx: Change,
  { id, name, certificateID }: Pick<StoredTunnel, 'id' | 'name' | 'certificateID'>,
) =>
  setLinks(
    tx,
    { kind: 'tunnel', id, name },
    certificateID === null ? [] : [{ kind: 'certificate', id: certificateID }],
  );
