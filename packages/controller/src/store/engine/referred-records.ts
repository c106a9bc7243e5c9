import type { ReferenceKind } from '@rushhour/contract';
import type { AgentInterface } from '@rushhour/protocol';
import type { Executor } from './database.ts';
import { inList } from './expressions.ts';
import { type Statement, statement } from './statement.ts';

/** The columns of referenced records that decide whether a task may use them. */
export interface ReferredRecords {
  agent: { id: number; name: string; isBlocked: number; interfaces: string };
  network: { id: number; name: string; type: number };
  tunnel: { id: number };
  certificate: { id: number; name: string; hasPrivate: number };
  file: {
    id: number;
    name: string;
    category: string;
    state: string;
    /** Of samples; null of other files. */
    inert: number | null;
    quarantine: string | null;
    releaseEndsAt: string | null;
  };
  dictionary: { id: number; name: string; type: string };
  application: { id: number; name: string; lockParameters: number; allowPerSessionSpeed: number };
  signature: { id: number };
  campaign: { id: number };
  task: { id: number };
}
export type ReferredKind = keyof ReferredRecords;

type Reads = { [K in ReferredKind]: Statement<{ ids: string }, ReferredRecords[K]> };

const reads: Reads = {
  agent: statement((db, p, engine) =>
    db
      .selectFrom('agents')
      .select(['id', 'name', 'isBlocked', 'interfaces'])
      .where('deletedAt', 'is', null)
      .where(inList('id', p.ids, engine)),
  ),
  network: statement((db, p, engine) =>
    db
      .selectFrom('networks')
      .select(['id', 'name', 'type'])
      .where(inList('id', p.ids, engine)),
  ),
  tunnel: statement((db, p, engine) =>
    db
      .selectFrom('tunnels')
      .select('id')
      .where(inList('id', p.ids, engine)),
  ),
  certificate: statement((db, p, engine) =>
    db
      .selectFrom('certificates')
      .select(['id', 'name', 'hasPrivate'])
      .where(inList('id', p.ids, engine)),
  ),
  file: statement((db, p, engine) =>
    db
      .selectFrom('files')
      .leftJoin('malware', 'malware.id', 'files.id')
      .select(['files.id', 'files.name', 'files.category', 'files.state'])
      .select(['malware.inert', 'malware.quarantine', 'malware.expiresAt as releaseEndsAt'])
      .where(inList('files.id', p.ids, engine)),
  ),
  dictionary: statement((db, p, engine) =>
    db
      .selectFrom('dictionaries')
      .select(['id', 'name', 'type'])
      .where(inList('id', p.ids, engine)),
  ),
  application: statement((db, p, engine) =>
    db
      .selectFrom('applications')
      .select(['id', 'name', 'lockParameters', 'allowPerSessionSpeed'])
      .where(inList('id', p.ids, engine)),
  ),
  signature: statement((db, p, engine) =>
    db
      .selectFrom('cveSignatures')
      .select('id')
      .where(inList('id', p.ids, engine)),
  ),
  campaign: statement((db, p, engine) =>
    db
      .selectFrom('campaigns')
      .select('id')
      .where(inList('id', p.ids, engine)),
  ),
  task: statement((db, p, engine) =>
    db
      .selectFrom('tasks')
      .select('id')
      .where('deletedAt', 'is', null)
      .where(inList('id', p.ids, engine)),
  ),
};

export const isReferredKind = (kind: ReferenceKind): kind is ReferredKind => Object.hasOwn(reads, kind);

/** The existing records of one kind, by id; one statement for any number of ids. */
export const referredRecords = async <Kind extends ReferredKind>(
  executor: Executor,
  kind: Kind,
  ids: readonly number[],
): Promise<Map<number, ReferredRecords[Kind]>> => {
  if (ids.length === 0) return new Map();
  const rows = await reads[kind].all(executor, { ids: JSON.stringify(ids) });
  return new Map(rows.map((row) => [row.id, row as ReferredRecords[Kind]]));
};

export const interfacesOf = ({ interfaces }: ReferredRecords['agent']) => JSON.parse(interfaces) as AgentInterface[];
