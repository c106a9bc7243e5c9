import { type Issue, IssueList } from '../values/issue.ts';
import { findDictionaryReference, type ParameterDraft, parameterTypes, systemValues } from './parameter-draft.ts';
import { scaleOf } from './scale.ts';

/** Every problem of a parameter that can be seen without its capture; mappings and extracts need the steps. */
export function issuesOfParameter(parameter: ParameterDraft): Issue[] {
  const issues = new IssueList();
  if (!parameterTypes.some((type) => type === parameter.type)) {
    issues.error('/type', 'TYPE_UNKNOWN', `"${parameter.type}" is none of ${parameterTypes.join(', ')}`);
    return issues.issues;
  }
  const check = Object.hasOwn(checks, parameter.source) ? checks[parameter.source] : undefined;
  if (check === undefined) {
    issues.error('/source', 'SOURCE_UNKNOWN', `"${parameter.source}" is none of ${Object.keys(checks).join(', ')}`);
  }
  check?.(parameter, issues);
  return issues.issues;
}

const checks: Readonly<Record<string, (parameter: ParameterDraft, issues: IssueList) => void>> = {
  fixed: (parameter, issues) => checkEncodes(parameter, '/defaultValue', parameter.defaultValue ?? '', issues),
  list: checkAllowed,
  counter: (parameter, issues) => {
    checkBounds(parameter, issues);
    if (!/^-?\d{1,40}$/.test(parameter.step || '1')) {
      issues.error('/step', 'STEP_INVALID', `"${parameter.step}" is not a whole number`);
    }
  },
  random: (parameter, issues) => {
    if (parameter.type === 'enum') checkAllowed(parameter, issues);
    else checkBounds(parameter, issues);
  },
  dictionary: (parameter, issues) => {
    if (findDictionaryReference(parameter.defaultValue ?? '') !== undefined) return;
    issues.error('/defaultValue', 'DICTIONARY_REFERENCE', 'defaultValue is dict/<dictionaryId>/<column>');
  },
  extract: () => undefined,
  system: (parameter, issues) => {
    if (systemValues.some((value) => value === parameter.defaultValue)) return;
    issues.error('/defaultValue', 'SYSTEM_VALUE_UNKNOWN', `defaultValue is one of ${systemValues.join(', ')}`);
  },
};

function checkAllowed(parameter: ParameterDraft, issues: IssueList): void {
  const values = parameter.allowedValues ?? [];
  if (values.length === 0) issues.error('/allowedValues', 'VALUES_MISSING', 'there is no value to choose from');
  for (const [i, value] of values.entries()) checkEncodes(parameter, `/allowedValues/${i}`, value, issues);
}

function checkEncodes(parameter: ParameterDraft, path: string, value: string, issues: IssueList): void {
  try {
    encodeParameter(parameter.type, value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    issues.error(path, 'VALUE_UNFIT', error.message);
  }
}

function checkBounds(parameter: ParameterDraft, issues: IssueList): void {
  const scale = scaleOf(parameter.type, '');
  const found = (['start', 'min', 'max'] as const).map((name) => {
    const text = parameter[name];
    const value = text ? scale.find(text) : undefined;
    const isOutside = value !== undefined && (value < (scale.lowest ?? value) || value > (scale.highest ?? value));
    if (text && (value === undefined || isOutside)) {
      issues.error(`/${name}`, 'VALUE_UNFIT', `"${text}" does not fit type ${parameter.type}`);
    }
    return value;
  });
  const [, min, max] = found;
  if (min !== undefined && max !== undefined && min > max) issues.error('/max', 'RANGE_REVERSED', 'max is below min');
}

/**
 * The bytes a value puts on the wire: text types in UTF-8, integers in decimal, hex and base64 as what they spell,
 * `u8` … `u32le` in binary. Throws a RangeError where the value does not fit the type.
 */
export function encodeParameter(type: string, value: string): Uint8Array {
  if (type === 'hex') return hexBytes(value);
  if (type === 'base64') return base64Bytes(value);
  if (Object.hasOwn(binaryWriters, type)) return binaryBytes(type, value);
  if (type === 'integer' && !/^-?\d+$/.test(value.trim())) throw new RangeError(`"${value}" is not an integer`);
  return new Uint8Array(Buffer.from(value, 'utf8'));
}

const binaryWriters: Readonly<Record<string, { bytes: number; write(view: DataView, value: number): void }>> = {
  u8: { bytes: 1, write: (view, value) => view.setUint8(0, value) },
  u16be: { bytes: 2, write: (view, value) => view.setUint16(0, value) },
  u16le: { bytes: 2, write: (view, value) => view.setUint16(0, value, true) },
  u32be: { bytes: 4, write: (view, value) => view.setUint32(0, value) },
  u32le: { bytes: 4, write: (view, value) => view.setUint32(0, value, true) },
};

function binaryBytes(type: string, text: string): Uint8Array {
  const writer = binaryWriters[type];
  const value = /^\s*(?:\d{1,10}|0x[0-9a-f]{1,8})\s*$/i.test(text) ? Number(text) : Number.NaN;
  if (writer === undefined || !(value < 2 ** (8 * writer.bytes))) throw new RangeError(`"${text}" is not a ${type}`);
  const bytes = new Uint8Array(writer.bytes);
  writer.write(new DataView(bytes.buffer), value);
  return bytes;
}

function hexBytes(text: string): Uint8Array {
  const digits = text.replace(/[\s:]/g, '');
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) throw new RangeError(`"${text}" is not hexadecimal`);
  return new Uint8Array(Buffer.from(digits, 'hex'));
}

function base64Bytes(text: string): Uint8Array {
  const compact = text.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) throw new RangeError(`"${text}" is not base64`);
  return new Uint8Array(Buffer.from(compact, 'base64'));
}
