import type { CertificateDetails } from '@rushhour/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import type { SecretLocation, Secrets } from '../engine/secrets.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

/** Longer texts are left out of lists. */
const lightChars = 16_384;

const isFlag = (column: string) => (value: number) => sql`${sql.ref(`t.${column}`)} = ${value}`;

export const certificates = createTable('certificates', {
  search: ['name', 'keywords'],
  computed: {
    public: (): RawBuilder<string> =>
      sql`(select case when length(${sql.ref('c.public')}) > ${sql.lit(lightChars)} then '' else ${sql.ref('c.public')} end from ${sql.table('certificateContents')} as c where ${sql.ref('c.id')} = ${sql.ref('t.id')})`,
  },
  filters: {
    expiresBefore: (time: string) => sql`(${sql.ref('t.notAfter')} <> '' and ${sql.ref('t.notAfter')} < ${time})`,
    hasPrivate: isFlag('hasPrivate'),
    ca: isFlag('isCa'),
    keyType: (keyType: string) => sql`${sql.ref('t.keyType')} = ${keyType}`,
  },
});

export type StoredCertificate = NonNullable<Awaited<ReturnType<typeof certificates.find>>>;

/** PEM texts and sealed keys, by certificate id. */
export const certificateContents = createTable('certificateContents');

const details = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('certificateContents')
    .select(['id', 'details'])
    .where(inList('id', p.ids, engine)),
);

export const detailsById = async (executor: Executor, ids: readonly number[]) =>
  new Map(
    (await details.all(executor, { ids: JSON.stringify(ids) })).map((row) => [
      row.id,
      JSON.parse(row.details) as CertificateDetails,
    ]),
  );

const keyLocationOf = (id: number): SecretLocation => ({ table: 'certificates', id, column: 'private' });

/** A private key as it is stored; an empty text stands for none. */
export const sealKey = (secrets: Secrets, id: number, key: string) =>
  key === '' ? '' : secrets.seal(key, keyLocationOf(id));

export const openKey = (secrets: Secrets, { id, private: sealed }: { id: number; private: string }) =>
  sealed === '' ? '' : secrets.open(sealed, keyLocationOf(id));

/** PEM with the private key in clear, or empty where there is none: for agents and for signing, never for answers. */
export const openCertificate = async (executor: Executor, secrets: Secrets, id: number) => {
  const found = await certificateContents.find(executor, id);
  return found && { public: found.public, private: openKey(secrets, found) };
};
