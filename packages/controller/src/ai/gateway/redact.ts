import {
  api,
  isSecret,
  isSecretHeader,
  membersIn,
  plugins,
  protocolProfiles,
  type Route,
  Settings,
  tunnelParams,
} from '@rushhour/contract';
import type { Secrets } from '../../store/engine/secrets.ts';

const prefix = '__redacted__:hmac:';
const markPattern = /^__redacted__:hmac:[0-9a-f]{12}$/;

/** Is it the mark of a secret in answers of the gateway? */
export const isMark = (value: unknown): value is string => typeof value === 'string' && markPattern.test(value);

/** All that the contract describes. */
function* described() {
  for (const { routes } of Object.values(api)) {
    for (const { body, query, reply } of Object.values(routes) as Route[]) {
      for (const schema of [body, query, reply]) yield* membersIn(schema);
    }
  }
  for (const { schema } of plugins) yield* membersIn(schema);
  for (const schema of [...Object.values(tunnelParams), ...Object.values(protocolProfiles), Settings]) {
    yield* membersIn(schema);
  }
}

/** Without a schema the name decides. */
const defaultNames = [
  'privateKey',
  'passwordHash',
  'clientSecret',
  'joinToken',
  'accessToken',
  'refreshToken',
  'apiKey',
];

const markedNames = () => {
  const marked = new Set<string>();
  const plain = new Set<string>();
  for (const { name, schema } of described()) {
    if (isSecret(schema)) marked.add(name);
    else if (schema['type'] === 'string') plain.add(name);
  }
  return [...marked].filter((name) => !plain.has(name));
};

let secretNames: ReadonlySet<string> | undefined;

/**
 * Members whose text is always secret. A name that is harmless elsewhere, such as `key`, is not included. Collected on
 * first use, so that the start does not wait for it.
 */
export const isSecretName = (name: string): boolean => {
  secretNames ??= new Set([...markedNames(), ...defaultNames]);
  return secretNames.has(name);
};

const privatePem = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isKeptSecret = (name: string, more: ReadonlySet<string>) =>
  isSecretName(name) || more.has(name) || isSecretHeader(name);

/** What `value` belongs to: a header by name, or the target of a JSON Patch. */
const subjectOf = ({ name, op, path }: Members) => {
  if (typeof op === 'string' && typeof path === 'string') return path.slice(path.lastIndexOf('/') + 1);
  return typeof name === 'string' && isSecretHeader(name) ? name : '';
};

/** A pointer to an item of a list of cookies. */
const cookiePointer = /\/cookies\/\d+$/;

const isSecretMember = (
  { holder, name, pointer }: { holder: Members; name: string; pointer: string },
  more: ReadonlySet<string>,
) =>
  isKeptSecret(name, more) ||
  (name === 'value' && (cookiePointer.test(pointer) || isKeptSecret(subjectOf(holder), more)));

const nothing: ReadonlySet<string> = new Set();

/** The only redactor for everything that models, audit and logs see. */
export const createRedactor = (secrets: Pick<Secrets, 'derive'>) => {
  /** Reveals only whether two secrets are equal. `pointer` is relative to the record. */
  const markOf = (pointer: string, value: string): string =>
    prefix + secrets.derive('redaction', `${pointer}\0${value}`).toString('hex').slice(0, 12);

  const walk = (value: unknown, pointer: string, more: ReadonlySet<string>): unknown => {
    if (typeof value === 'string') return privatePem.test(value) ? markOf(pointer, value) : value;
    if (Array.isArray(value)) return value.map((item, index) => walk(item, `${pointer}/${index}`, more));
    if (!isMembers(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const path = `${pointer}/${escaped(name)}`;
        const isHidden =
          typeof member === 'string' &&
          member !== '' &&
          !isMark(member) &&
          isSecretMember({ holder: value, name, pointer }, more);
        return [name, isHidden ? markOf(path, member) : walk(member, path, more)];
      }),
    );
  };

  return {
    markOf,
    /** A copy without secrets. `more` names further secret members of this record. */
    redact: <T>(value: T, more: ReadonlySet<string> = nothing): T => walk(value, '', more) as T,
    /** A copy of a record without its secrets, which are sealed elsewhere by JSON pointer. */
    redactSealed: <T>(record: T, opened: Readonly<Record<string, string>>): T => {
      const copy = structuredClone(record);
      for (const [pointer, value] of Object.entries(opened)) setAt(copy, pointer, markOf(pointer, value));
      return walk(copy, '', nothing) as T;
    },
  };
};

export type Redactor = ReturnType<typeof createRedactor>;

const setAt = (record: unknown, pointer: string, value: unknown) => {
  const names = pointer.split('/').slice(1);
  const last = names.pop() as string;
  const holder = names.reduce<unknown>((part, name) => (part as Members | undefined)?.[name], record);
  if (isMembers(holder) && last in holder) holder[last] = value;
};
