import { type TProperties, type TSchema, Type } from 'typebox';
import { OneOf, optional, strict } from '../../schema.ts';
import { secret } from '../../secret.ts';

/** One object of a profile's `config`. It may be left out: its members have defaults or are optional. */
export const section = <P extends TProperties>(description: string, members: P) =>
  Type.Object(members, { description, ...strict, default: {} });

/** The sections of a protocol, by name. */
export const profile = <P extends TProperties>(description: string, sections: P) =>
  Type.Object(sections, { description, ...strict });

export const whole = (description: string, value: number, [minimum, maximum]: readonly [number, number]) =>
  Type.Integer({ description, default: value, minimum, maximum });

export const flag = (description: string, value = false) => Type.Boolean({ description, default: value });

/** One of the values; the first is the default. */
export const choice = <const Values extends readonly [string, ...string[]]>(description: string, values: Values) =>
  OneOf(values, { description, default: values[0] });

export const text = (description: string, value = '', maxLength = 255) =>
  Type.String({ description, default: value, maxLength });

/** A text hidden from AI models, the audit log and logs. */
export const secretText = (description: string) => Type.String({ description, default: '', maxLength: 80, ...secret });

/** A text in which `{n}` stands for the number of the session, the router or the link, from 1 on. */
export const numbered = (description: string, value: string, more: object = {}) =>
  Type.String({
    description: `${description}; {n} is replaced by the number, from 1 on`,
    default: value,
    maxLength: 255,
    ...more,
  });

export const ipv4 = (description: string, value: string) =>
  Type.String({ description, format: 'ipv4', default: value });

export const ipv6 = (description: string, value: string) =>
  Type.String({ description, format: 'ipv6', default: value });

/** An address of either version that may be left out. */
export const optionalAddress = (description: string) =>
  optional.string({ description, maxLength: 45, pattern: `^(${octets}|${hextets})$` });

export const optionalRouterId = (description: string) => optional.string({ description, format: 'ipv4' });

export const mac = (description: string, value: string) =>
  Type.String({ description, default: value, pattern: macPattern });

export const optionalMac = (description: string) => optional.string({ description, pattern: macPattern });

export const ipv4Prefix = (description: string, value: string) =>
  Type.String({ description, default: value, pattern: `^${octets}/(3[0-2]|[12]?[0-9])$` });

export const ipv6Prefix = (description: string, value: string) =>
  Type.String({ description, default: value, maxLength: 49, pattern: `^${hextets}/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$` });

export const list = <Values extends readonly string[]>(
  description: string,
  { pattern, value, maxItems = 64 }: { pattern: string; value: Values; maxItems?: number },
) => Type.Array(Type.String({ pattern, maxLength: 255 }), { description, default: [...value], maxItems });

/** Members of the same set, each at most once. */
export const subset = <const Values extends readonly string[]>(
  description: string,
  values: Values,
  value: readonly Values[number][],
) => Type.Array(OneOf(values), { description, default: [...value], uniqueItems: true, maxItems: values.length });

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const octets = `(${octet}\\.){3}${octet}`;
const macPattern = '^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$';
const group = '[0-9A-Fa-f]{1,4}';
// Where `::` stands for groups, at most seven others are written.
const hextets = `((${group}:){7}${group}|(?!:*([0-9A-Fa-f]+:+){7}[0-9A-Fa-f])((${group}:)*${group})?::((${group}:)*${group})?)`;

/** `10.0.0.1`, `2001:db8::1`: for lists of addresses. */
export const addressPattern = `^(${octets}|${hextets})$`;
export const ipv4Pattern = `^${octets}$`;
export const ipv6Pattern = `^${hextets}$`;
/** `65000:1`, `192.0.2.1:7`: route distinguishers, route targets and communities. */
export const pairPattern = `^([0-9]{1,10}|${octets}):[0-9]{1,10}$`;

/** Deliberate flaps: the protocol goes down and comes back, to observe how the network reacts. */
export const flaps = (what: string) =>
  section(`Interruptions of ${what} on purpose`, {
    intervalSec: whole('Time between interruptions; 0 for none', 0, [0, 86_400]),
    downSec: whole('How long an interruption lasts', 10, [1, 86_400]),
    count: whole('How many; 0 for no end', 0, [0, 1_000_000]),
  });

/** Authentication by a shared key. */
export const authentication = <const Kinds extends readonly [string, ...string[]]>(
  kinds: Kinds,
  notYet: readonly Kinds[number][] = [],
) =>
  section('How neighbours prove who they are', {
    kind: notYet.length > 0 ? unsupported(choice('Algorithm', kinds), notYet) : choice('Algorithm', kinds),
    keyId: whole('Number of the key, where the algorithm has one', 1, [0, 65_535]),
    key: secretText('The key'),
  });

/** Some values of a member cannot be done yet: a run with one of them is refused. */
export const unsupported = <S extends TSchema>(schema: S, values: readonly unknown[]): S =>
  Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(schema), 'x-unsupported': { value: [...values], enumerable: true } },
  ) as S;
