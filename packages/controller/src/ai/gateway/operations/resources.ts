import {
  type api,
  findProtocol,
  isSecret,
  membersIn,
  permissions,
  protocolProfiles,
  type ResourceKind,
  type TunnelType,
  tunnelSecretsOf,
} from '@rushhour/contract';
import type { AiCaller, AiKeyFacts } from '../../../caller.ts';
import { cursorOf, one } from '../../../crud.ts';
import { forbidden, notFound } from '../../../errors.ts';
import type { Handlers } from '../../../handler.ts';
import { allows } from '../../../people/permissions.ts';
import type { Store } from '../../../store/store.ts';
import { digestOf } from '../../approvals/digest.ts';
import { permissionOfKind } from '../../keys/scopes.ts';
import { partAt } from '../economy.ts';
import { createRedactor } from '../redact.ts';
import { sanitizeForModel } from '../sanitize.ts';
import type { Records } from './records.ts';

interface Deps {
  store: Store;
  records: Records;
}

type Item = Record<string, unknown>;
interface Envelope<T> {
  cursor: { count: number; currentPage: number; totalPages: number; totalRows: number };
  data: T;
}
/** The members common to all collections. */
interface Source {
  list(request: { query: object }, caller: unknown): Promise<Envelope<Item[]>>;
  /** In the envelope, or by itself. */
  get(request: { params: { id: number }; query: object }, caller: unknown): Promise<Envelope<Item> | Item>;
}

const collectionOf: Record<ResourceKind, string> = {
  network: 'networks',
  application: 'applications',
  file: 'files',
  certificate: 'certificates',
  tunnel: 'tunnels',
  mac: 'macs',
  dictionary: 'dictionaries',
  template: 'taskTemplates',
  project: 'projects',
  cve: 'cve',
  malware: 'malware',
  campaign: 'compromisedHost',
};
const tagged: ReadonlySet<ResourceKind> = new Set(['file', 'application', 'dictionary', 'template']);
/** Members that are long or confidential. */
const left: readonly string[] = ['issuer', 'rows', 'values', 'parameters', 'sessions', 'task', 'users', 'content'];
/** The gateway reveals nothing about users. */
const people: ReadonlySet<string> = new Set(['issuer', 'issuerID', 'issuerId', 'issuerEmail', 'issuerName']);
const emptyPage = { cursor: { count: 0, currentPage: 1, totalPages: 0, totalRows: 0 }, data: [] };

const findIn = async (source: Source, id: number, caller: AiCaller): Promise<Item> => {
  const answer = await source.get({ params: { id }, query: {} }, caller);
  return 'cursor' in answer ? (answer as Envelope<Item>).data : answer;
};

const idOf = ({ id, ID }: Item) => Number(id ?? ID);

const assertKind = ({ permissions: held }: AiCaller, kind: ResourceKind) => {
  const permission = permissionOfKind[kind];
  if (!allows(held, permission)) {
    const data = { kind, permission: permissions[permission] };
    throw forbidden('AI_SCOPE_MISSING', `the owner of this key may not read this kind: ${kind}`, data);
  }
};

const seesResource = ({ constraints: { projectIDs } }: AiKeyFacts, kind: ResourceKind, id: number) =>
  kind !== 'project' || projectIDs === undefined || projectIDs.includes(id);

const fingerprintOf = (kind: ResourceKind, item: Item) => digestOf([kind, idOf(item), item['updatedAt'] ?? null]);

const shortText = (value: unknown) => (typeof value === 'string' ? sanitizeForModel(value, 200) : undefined);

const summaryOf = (kind: ResourceKind, item: Item) => ({
  kind,
  id: idOf(item),
  name: shortText(item['name']) ?? shortText(item['address']) ?? '',
  summary: ['description', 'type', 'category', 'subnet', 'address', 'mode', 'size', 'tags']
    .map((name) => item[name])
    .filter((value) => value !== undefined && value !== '' && value !== null)
    .map((value) => sanitizeForModel(String(value), 120))
    .join(' · '),
  fingerprint: fingerprintOf(kind, item),
  updatedAt: item['updatedAt'] ?? null,
  untrusted: true,
});

/** Some secrets of tunnels and of protocols have names that are harmless elsewhere. */
const secretsOf = (kind: ResourceKind, item: Item): ReadonlySet<string> => {
  if (kind === 'tunnel') return new Set(tunnelSecretsOf(item['type'] as TunnelType));
  const protocol = kind === 'dictionary' ? findProtocol(String(item['type'])) : undefined;
  const members = protocol === undefined ? [] : [...membersIn(protocolProfiles[protocol])];
  return new Set(members.filter(({ schema }) => isSecret(schema)).map(({ name }) => name));
};

/** The projects a key is restricted to. */
const ownProjects = async (
  source: Source,
  caller: AiCaller,
  { q = '', count = 20, page = 1 }: { q?: string | undefined; count?: number; page?: number },
) => {
  const found: Item[] = [];
  for (const id of caller.key.constraints.projectIDs ?? []) {
    const item = await findIn(source, id, caller).catch(() => undefined);
    if (item && String(item['name']).toLowerCase().includes(q.toLowerCase())) found.push(item);
  }
  const offset = (page - 1) * count;
  const data = found.slice(offset, offset + count).map((item) => summaryOf('project', item));
  return { cursor: cursorOf(count, offset, found.length), data };
};

const isSummed = (name: string, view: string | undefined) => view !== 'full' && left.includes(name);

/** All resources a task can use, behind two operations. */
export const resourceHandlers = ({
  store,
  records,
}: Deps): Pick<Handlers<typeof api.aiGateway>, 'resources' | 'resource'> => {
  const { redact } = createRedactor(store.secrets);
  const sourceOf = (kind: ResourceKind) =>
    (records as unknown as Record<string, Source | undefined>)[collectionOf[kind]];

  return {
    resources: async ({ query: { kind, q, tags, key, ...query } }, caller) => {
      assertKind(caller, kind);
      const source = sourceOf(kind);
      if (source?.list === undefined) return emptyPage;
      const sortedBy = kind === 'project' && key === 'id' ? 'ID' : key;
      const options = { ...query, key: sortedBy, ...(q !== undefined && { search: q }) };
      const filters = tags !== undefined && tagged.has(kind) ? { tag: kind === 'file' ? [tags] : tags } : {};
      const { projectIDs } = caller.key.constraints;
      if (kind === 'project' && projectIDs !== undefined) return ownProjects(source, caller, { q, ...query });
      const { cursor, data } = await source.list({ query: { ...options, ...filters } }, caller);
      return { cursor, data: data.map((item) => summaryOf(kind, item)) };
    },
    resource: async ({ params: { kind, id }, query: { view, path } }, caller) => {
      assertKind(caller, kind);
      const source = seesResource(caller.key, kind, id) ? sourceOf(kind) : undefined;
      if (source?.get === undefined) throw notFound(kind, id);
      const item = await findIn(source, id, caller);
      const shown = Object.fromEntries(Object.entries(item).filter(([name]) => !people.has(name)));
      const safe = redact(shown, secretsOf(kind, item)) as Item;
      if (path !== undefined && path !== '') return one(partAt(safe, path));
      const members = Object.fromEntries(Object.entries(safe).filter(([name]) => !isSummed(name, view)));
      return one({ ...members, kind, fingerprint: fingerprintOf(kind, item), untrusted: true });
    },
  };
};
