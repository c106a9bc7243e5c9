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

/** Agents and plugins are named where they are: `agent: edge-1`, `plugin: http`, or `{ name: … }`. */
const nameOf = (member: string, value: unknown): string | undefined => {
  if (member !== 'agent' && member !== 'plugin') return undefined;
  if (typeof value === 'string') return value;
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
    return [member, { id: await names.idOf(member as 'agent' | 'plugin', name) }];
  });
  return Object.fromEntries(await Promise.all(members));
};
