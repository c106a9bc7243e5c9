import type { api } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { allRecords, assertAllFound, assertFresh, cursorOf, one, pageRequestOf } from '../../crud.ts';
import { forbidden, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { allows } from '../../people/permissions.ts';
import {
  certificateContents,
  certificates,
  detailsById,
  openCertificate,
  openKey,
  type StoredCertificate,
  sealKey,
} from '../../store/assets/certificates.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { assertUnused, dropLinks } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { isChildOf } from './bundle.ts';
import type { Material } from './material.ts';
import { columnsOf, described, link, shown } from './material.ts';
import {
  type ContentPatch,
  changedMaterial,
  changesContent,
  issuerNotFound,
  newMaterial,
} from './write-certificate.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
}

const createCertificateContext = (deps: Deps) => {
  const { store } = deps;
  const { secrets } = store;
  // Generating keys and decrypting files occupies thread-pool threads that sign-in needs too.
  const limited = createSemaphore(2);
  return { ...deps, secrets, limited };
};
type CertificateContext = ReturnType<typeof createCertificateContext>;

const open = ({ store, secrets }: CertificateContext, id: number) => openCertificate(store.read, secrets, id);

/** The row of texts; the key is sealed for the id it belongs to. */
const contentsOf = (
  { secrets }: CertificateContext,
  id: number,
  { public: text, private: key, details }: Material,
) => ({
  public: text,
  private: sealKey(secrets, id, key),
  details,
});

/** The texts after an update; undefined if the update does not change them. */
const changedContents = async (context: CertificateContext, before: StoredCertificate, patch: ContentPatch) => {
  const { limited, store } = context;
  const stored = await open(context, before.id);
  if (stored === undefined || !changesContent(patch, stored.public)) return undefined;
  const material = await limited(() => changedMaterial(patch, stored));
  const issuerID = before.issuerCertificateID;
  const issuer = issuerID && (await certificateContents.find(store.read, issuerID));
  const isChild = issuer && isChildOf(material.public, issuer.public);
  return { ...material, issuerCertificateID: isChild ? issuerID : null };
};

const getCertificate =
  ({ store, secrets }: CertificateContext): Handlers<typeof api.certificates>['get'] =>
  async ({ params: { id }, query: { include, format } }, caller) => {
    const isOpen = include === 'private';
    if (isOpen) await assertMayOpen(store, caller, id);
    const { certificate, contents } = isOpen
      ? await store.change(caller, async (tx) => disclosed(tx, await findWhole(tx, id)))
      : await findWhole(store.read, id);
    const key = isOpen ? openKey(secrets, contents) : '';
    return one({
      ...shown(certificate),
      public: contents.public,
      private: key,
      ...described(contents.details),
      ...(format === 'pem' && { pem: contents.public + key }),
    });
  };

const listCertificates =
  ({ store }: CertificateContext): Handlers<typeof api.certificates>['list'] =>
  async ({ query: { expiresBefore, hasPrivate, ca, ...query } }) => {
    const { filters, ...request } = pageRequestOf(query, 'id');
    const { rows, total } = await certificates.page(store.read, {
      ...request,
      filters: { ...filters, expiresBefore: timeOf(expiresBefore), hasPrivate: bitOf(hasPrivate), ca: bitOf(ca) },
    });
    const details = await detailsById(
      store.read,
      rows.map(({ id }) => id),
    );
    const data = rows.map((row) => ({ ...shown(row), ...described(details.get(row.id)) }));
    return { cursor: cursorOf(request.limit, request.offset, total), data };
  };

const updateCertificate =
  (context: CertificateContext): Handlers<typeof api.certificates>['update'] =>
  async ({ body: { id, updatedAt, name, ...patch } }, caller) => {
    const { store } = context;
    const before = await findIn(store.read, id);
    assertFresh('certificate', before, updatedAt);
    const material = await changedContents(context, before, patch);
    await store.change(caller, async (tx) => {
      const present = await findIn(tx, id);
      // New texts were checked together with the stored ones.
      assertFresh('certificate', present, material ? before.updatedAt : updatedAt);
      await certificates.update(tx, id, { name, ...(material && columnsOf(material)) });
      if (material) await certificateContents.update(tx, id, contentsOf(context, id, material));
      await link(tx, { ...present, ...material, id, name: name ?? present.name });
    });
  };

export const certificateHandlers = (deps: Deps): Handlers<typeof api.certificates> => {
  const context = createCertificateContext(deps);
  const { settings, store, limited } = context;

  return {
    list: listCertificates(context),
    all: () => allRecords(certificates, { store, settings }, shown),
    get: getCertificate(context),
    create: async ({ body }, caller) => {
      const material = await limited(() => newMaterial(body, (id) => open(context, id)));
      return store.change(caller, async (tx) => {
        await assertIssuer(tx, material.issuerCertificateID);
        const id = await certificates.insert(tx, { name: body.name, ...columnsOf(material) });
        await certificateContents.insert(tx, { id, ...contentsOf(context, id, material) });
        await link(tx, { ...material, id, name: body.name });
        return { data: id };
      });
    },
    update: updateCertificate(context),
    removeMany: ({ body: { array } }, caller) =>
      store.change(caller, async (tx) => {
        await assertUnused(tx, 'certificate', array);
        await certificateContents.remove(tx, array);
        assertAllFound('certificate', array, await certificates.remove(tx, array));
        await dropLinks(tx, 'certificate', array);
        return { data: array };
      }),
  };
};

const findIn = (executor: Executor, id: number) => orNotFound(certificates.find(executor, id), 'certificate', id);

const findWhole = async (executor: Executor, id: number) => {
  const certificate = await findIn(executor, id);
  const contents = await orNotFound(certificateContents.find(executor, id), 'certificate', id);
  return { certificate, contents };
};

/** Reading private keys needs its own permission; both access and refusal are audited. */
const assertMayOpen = async (store: Store, caller: Caller, id: number) => {
  const permission = 'certificates.private';
  if (allows(caller.permissions, permission)) return;
  await store.change(caller, async (tx) => tx.deny({ permission, certificateID: id }));
  throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
};

const disclosed = <T extends { certificate: StoredCertificate }>(tx: Change, found: T): T => {
  tx.touch('certificates', found.certificate.id);
  tx.note({ include: 'private', hasPrivate: found.certificate.hasPrivate });
  return found;
};

/** The authority may have been deleted while the certificate was made. */
const assertIssuer = async (tx: Change, id: number | null) => {
  if (id !== null && (await certificates.find(tx, id)) === undefined) throw issuerNotFound(id);
};

const bitOf = (value: boolean | undefined) => (value === undefined ? undefined : Number(value));

const timeOf = (text: string | undefined) => {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw invalid([{ path: '/expiresBefore', in: 'query', code: 'FORMAT', message: 'is not a valid time' }]);
  }
  return time.toISOString();
};
