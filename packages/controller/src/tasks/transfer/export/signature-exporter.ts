import { type CveSignature, PortableSignature } from '@rushhour/contract';
import type { Executor } from '../../../store/engine/database.ts';
import { statement } from '../../../store/engine/statement.ts';
import { findSignatures } from '../../../store/security/cve.ts';
import { keyOf } from '../reference.ts';
import type { PartsOf, RecordExporter } from './record-exporter.ts';

type Signature = PartsOf<'cveSignatures'>['signature'];

const byName = statement((db, p: { name: string }) =>
  db.selectFrom('cveSignatures').select('id').where('name', '=', p.name).orderBy('id').limit(100),
);

const members = Object.keys(PortableSignature.properties) as (keyof Signature)[];

/** Without local members: author, times, source file. */
const portable = (found: CveSignature) =>
  Object.fromEntries(members.map((member) => [member, found[member]])) as unknown as Signature;

/** Reads many at once, by key: a filter may match thousands. */
export const readSignatures = async (executor: Executor, ids: readonly number[]) =>
  new Map(
    (ids.length === 0 ? [] : await findSignatures(executor, ids)).map((found) => [
      keyOf({ kind: 'cveSignatures', id: found.id }),
      { signature: portable(found) },
    ]),
  );

export const signatureExporter: RecordExporter<'cveSignatures'> = {
  read: async (executor, id) => {
    const [found] = await findSignatures(executor, [id]);
    return found && { signature: portable(found) };
  },
  nameOf: ({ signature }) => signature.name,
  references: ({ signature: { payloads = [] } }) =>
    payloads.flatMap(({ dictionaryId: id }, index) =>
      id === undefined
        ? []
        : [{ path: `/signature/payloads/${index}/dictionaryId`, kind: 'dictionaries' as const, id }],
    ),
  // The name counts: results and reports use it.
  identityOf: ({ signature }) => {
    const { name, cveIDs, severity, techniques, protocol, direction, category } = signature;
    const { requests, responses, variables, payloads, combine, maxAttempts, expect } = signature;
    const about = { name, cveIDs, severity, techniques, protocol, direction, category };
    return { about, requests, responses, variables, payloads, combine, maxAttempts, expect };
  },
  findMatches: async (executor, { signature: { name } }) => (await byName.all(executor, { name })).map(({ id }) => id),
};
