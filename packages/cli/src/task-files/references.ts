import { type NamedKind, namedKinds, type RecordNames } from './record-names.ts';

type Holder = Record<string, unknown>;

const isHolder = (value: unknown): value is Holder =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kinds: readonly string[] = [...namedKinds, 'plugin'];

/** `{ $ref: 'network/clients' }` stands for the id of that record. */
const refIn = (value: Holder): { kind: NamedKind; name: string } | undefined => {
  const { $ref, ...more } = value;
  if (typeof $ref !== 'string' || Object.keys(more).length > 0) return undefined;
  const at = $ref.indexOf('/');
  const kind = $ref.slice(0, at);
  return kinds.includes(kind) ? { kind: kind as NamedKind, name: $ref.slice(at + 1) } : undefined;
};

/** Records are named where they are: `agent: edge-1`, `plugin: http`, `network: { name: clients }`. */
const nameOf = (member: string, value: unknown): string | undefined => {
  if (!kinds.includes(member)) return undefined;
  if (typeof value === 'string') return member === 'agent' || member === 'plugin' ? value : undefined;
  return isHolder(value) && value['id'] === undefined && typeof value['name'] === 'string' ? value['name'] : undefined;
};

/** The same value with ids in place of names. */
export const withIds = async (value: unknown, names: RecordNames): Promise<unknown> => {
  if (Array.isArray(value)) return Promise.all(value.map((item) => withIds(item, names)));
  if (!isHolder(value)) return value;
  const ref = refIn(value);
  if (ref !== undefined) return names.idOf(ref.kind, ref.name);
  const members = Object.entries(value).map(async ([member, part]): Promise<[string, unknown]> => {
    const name = nameOf(member, part);
    if (name === undefined) return [member, await withIds(part, names)];
    return [member, { id: await names.idOf(member as NamedKind, name) }];
  });
  return Object.fromEntries(await Promise.all(members));
};

interface Found {
  readonly kind: string;
  readonly id: number;
  /** JSON pointer into the task. */
  readonly path: string;
}

const segmentsOf = (path: string) =>
  path
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

const put = (target: unknown, segments: readonly string[], value: unknown) => {
  const holder = segments.slice(0, -1).reduce((at, segment) => (at as Holder)[segment], target) as Holder;
  holder[segments.at(-1) ?? ''] = value;
};

const nameOne = async (task: object, { kind, id, path }: Found, names: RecordNames) => {
  const name = kinds.includes(kind) ? await names.findName(kind as NamedKind, id) : undefined;
  if (name === undefined) return;
  const segments = segmentsOf(path);
  const member = segments.at(-1) === 'id' ? segments.at(-2) : undefined;
  if (member === kind) put(task, segments.slice(0, -1), kind === 'agent' ? name : { name });
  else put(task, segments, { $ref: `${kind}/${name}` });
};

/** Plugins are no references of a task, but are named as well. */
const namePlugins = async (value: unknown, names: RecordNames): Promise<unknown> => {
  if (Array.isArray(value)) return Promise.all(value.map((item) => namePlugins(item, names)));
  if (!isHolder(value)) return value;
  const members = Object.entries(value).map(async ([member, part]): Promise<[string, unknown]> => {
    const id = member === 'plugin' && isHolder(part) ? part['id'] : undefined;
    const name = typeof id === 'number' ? await names.findName('plugin', id) : undefined;
    return [member, name ?? (await namePlugins(part, names))];
  });
  return Object.fromEntries(await Promise.all(members));
};

/** A copy of the task that names the records instead of numbering them, where names are unique. */
export const withNames = async <T extends object>(task: T, found: readonly Found[], names: RecordNames): Promise<T> => {
  const copy = structuredClone(task);
  for (const reference of found) await nameOne(copy, reference, names);
  return (await namePlugins(copy, names)) as T;
};
