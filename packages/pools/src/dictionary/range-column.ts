import { findAddress, formatAddress, type IpVersion } from '../addresses/address.ts';
import { findMac, formatMac } from '../macs/mac.ts';
import { findDateFormat, findFormat, formatDirectives } from './format.ts';
import type { Section } from './section.ts';
import type { Sequence } from './sequence.ts';

/** Maps the values of one kind to numbers. */
interface RangeKind {
  find(text: string): bigint | undefined;
  print(value: bigint): string;
  readonly directives: string;
}

const rangeKinds: Readonly<Record<string, RangeKind>> = {
  integer: { find: findInteger, print: String, directives: formatDirectives.integer },
  ipv4: addressKind(4),
  ipv6: addressKind(6),
  mac: {
    find: (text) => {
      const mac = findMac(text);
      return mac === undefined ? undefined : BigInt(mac);
    },
    print: (value) => formatMac(Number(value)),
    directives: formatDirectives.text,
  },
  char: {
    find: findCharacter,
    print: (value) => String.fromCodePoint(Number(value)).toWellFormed(),
    directives: formatDirectives.text,
  },
};
const rangeKindNames = [...Object.keys(rangeKinds), 'date'];

/** `start` to `end`, both included, by `step`; a negative step counts down. */
export function readRangeColumn(section: Section): Sequence | undefined {
  const name = section.choice('kind', rangeKindNames) ?? (section.raw('kind') === undefined ? 'integer' : undefined);
  const [start, end, step, format] = ['start', 'end', 'step', 'format'].map((member) => section.text(member));
  if (name === undefined) return undefined;
  if (name === 'date') return readDateRange(section, { start, end, step, format });
  const kind = rangeKinds[name] as RangeKind;
  const first = readBound(section, 'start', kind.find(start ?? '1'));
  const last = readBound(section, 'end', end === undefined ? undefined : kind.find(end));
  const distance = readBound(section, 'step', findInteger(step ?? '1'));
  const print = format === undefined ? kind.print : readFormat(section, format, kind);
  if (first === undefined || last === undefined || distance === undefined || print === undefined) return undefined;
  return createLine(section, { first, last, step: distance, print });
}

interface Line {
  readonly first: bigint;
  readonly last: bigint;
  readonly step: bigint;
  print(value: bigint): string;
}

function createLine(section: Section, { first, last, step, print }: Line): Sequence | undefined {
  if (step === 0n) return section.error('step', 'RANGE_STEP', 'step must not be 0');
  if ((last - first) * step < 0n) return section.error('end', 'RANGE_REVERSED', 'the range ends before it begins');
  return { size: (last - first) / step + 1n, at: (index) => print(first + index * step) };
}

function readBound(section: Section, name: string, value: bigint | undefined): bigint | undefined {
  if (value !== undefined) return value;
  return section.error(name, 'RANGE_BOUND', `${name} is missing or does not fit the kind`);
}

function readFormat(section: Section, text: string, kind: RangeKind): ((value: bigint) => string) | undefined {
  const format = findFormat(text, kind.directives);
  if (format === undefined) return section.error('format', 'FORMAT_INVALID', `"${text}" does not fit the kind`);
  return (value) => format(kind.print === String ? value : kind.print(value));
}

interface DateRangeTexts {
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly step: string | undefined;
  readonly format: string | undefined;
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const dateOnly = /^\d{4}-\d{2}-\d{2}$/;

/** `step` is a number with s, m, h, d or w; a bare number counts days between dates and seconds between times. */
function readDateRange(section: Section, texts: DateRangeTexts): Sequence | undefined {
  const { start = '', end = '', step = '1', format } = texts;
  const isDay = dateOnly.test(start.trim());
  const first = readBound(section, 'start', findDate(start));
  const last = readBound(section, 'end', findDate(end));
  const [, count, unit = isDay ? 'd' : 's'] = /^(-?\d+)([smhdw])?$/.exec(step.trim()) ?? [];
  const distance = readBound(
    section,
    'step',
    count === undefined ? undefined : BigInt(count) * BigInt(unitMs[unit] ?? 1),
  );
  const print = format === undefined ? (ms: number) => printDate(ms, isDay) : findDateFormat(format);
  if (print === undefined)
    section.error('format', 'FORMAT_INVALID', `"${format}" is not a date format such as %Y-%m-%d`);
  if (first === undefined || last === undefined || distance === undefined || print === undefined) return undefined;
  return createLine(section, { first, last, step: distance, print: (value) => print(Number(value)) });
}

function printDate(epochMs: number, isDay: boolean): string {
  const text = new Date(epochMs).toISOString();
  return isDay ? text.slice(0, 10) : text;
}

function findDate(text: string): bigint | undefined {
  const trimmed = text.trim();
  if (!dateOnly.test(trimmed) && !/^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(trimmed)) return undefined;
  const epochMs = Date.parse(trimmed);
  return Number.isNaN(epochMs) ? undefined : BigInt(epochMs);
}

export function findInteger(text: string): bigint | undefined {
  return /^-?\d{1,40}$/.test(text.trim()) ? BigInt(text.trim()) : undefined;
}

function addressKind(version: IpVersion): RangeKind {
  return {
    find: (text) => {
      const address = findAddress(text.trim());
      return address?.version === version ? address.value : undefined;
    },
    print: (value) => formatAddress(version, value),
    directives: formatDirectives.text,
  };
}

function findCharacter(text: string): bigint | undefined {
  const [character, ...more] = text;
  return character === undefined || more.length > 0 ? undefined : BigInt(character.codePointAt(0) ?? 0);
}
