import type { ConfigurationEntry } from '../collections/tasks/task.ts';
import { secretValues } from './entry-values.ts';
import { entriesOf } from './plugins/entries.ts';

type Holder = Record<string, unknown>;

const secretHeader = /(^|[-_])(authorization|cookie2?|token|secret|password|jwt|(api|auth|access)[-_]?key)$/i;

/** Whether values of this header are credentials. */
export const isSecretHeader = (name: string) => secretHeader.test(name);

/** A position in a task where a secret is, or may be put. */
export interface SecretSlot {
  /** JSON pointer into the task. */
  readonly path: string;
  /** Equal for the same secret of two versions of a task, even if items before it were added or removed. */
  readonly identity: string;
  readonly holder: Holder;
  /** The member of `holder`. */
  readonly member: string;
  /** The secret's name for people: a member of `values`, a header or a cookie. */
  readonly name: string;
}

const isHolder = (value: unknown): value is Holder =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isHeaderList = (name: string) => /headers$/i.test(name);

/** Slots of a list of headers or cookies. Items are identified by name and by their order among equal names. */
const slotsOfList = (list: readonly unknown[], listName: string, path: string): SecretSlot[] => {
  const seen = new Map<string, number>();
  return list.flatMap((item, index): SecretSlot[] => {
    if (!isHolder(item) || typeof item['name'] !== 'string') return [];
    const { name } = item;
    if (isHeaderList(listName) && !isSecretHeader(name)) return [];
    const key = isHeaderList(listName) ? name.toLowerCase() : name;
    const ordinal = seen.get(key) ?? 0;
    seen.set(key, ordinal + 1);
    return [
      { path: `${path}/${index}/value`, identity: `${path}/${key} ${ordinal}`, holder: item, member: 'value', name },
    ];
  });
};

const slotsInside = (value: unknown, path: string): SecretSlot[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => slotsInside(item, `${path}/${index}`));
  if (!isHolder(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const isList = Array.isArray(member) && (isHeaderList(name) || name === 'cookies');
    return isList ? slotsOfList(member, name, inner) : slotsInside(member, inner);
  });
};

/** Every slot of the values of one entry: members that are secrets, credentials in headers, and cookies. */
export const secretSlotsOf = (values: object, path: string): SecretSlot[] => [
  ...secretValues.map((name) => {
    const pointer = `${path}/${name}`;
    return { path: pointer, identity: pointer, holder: values as Holder, member: name, name };
  }),
  ...slotsInside(values, path),
];

/** Every slot of a configuration, entries inside suites included. */
export const secretSlotsIn = (configuration: readonly ConfigurationEntry[]): SecretSlot[] =>
  entriesOf(configuration).flatMap(({ path, values }) => secretSlotsOf(values, `${path}/values`));
