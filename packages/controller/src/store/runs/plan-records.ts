import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';

const addresses = statement((db, _: object) =>
  db.selectFrom('agents').select('addresses').where('deletedAt', 'is', null),
);

/** Of all agents that are enrolled. */
export const allAgentAddresses = async (executor: Executor): Promise<string[]> =>
  (await addresses.all(executor, {})).flatMap((row) => JSON.parse(row.addresses) as string[]);

const contents = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('certificates')
    .innerJoin('certificateContents', 'certificateContents.id', 'certificates.id')
    .select(['certificates.id', 'certificates.name', 'certificateContents.public', 'certificateContents.private'])
    .where(inList('certificates.id', p.ids, engine)),
);

/** PEM of certificates, with their keys still sealed. */
export const sealedCertificates = (executor: Executor, ids: readonly number[]) =>
  contents.all(executor, { ids: JSON.stringify(ids) });
