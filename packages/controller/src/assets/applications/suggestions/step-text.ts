import { findHttpMessage } from '@rushhour/pcap';
import type { RecordedStep } from '../captures/session-steps.ts';

/** A named value in a request: where it stands, and what kind of name it has. */
export interface NamedValue {
  readonly kind: 'header' | 'cookie' | 'query' | 'form' | 'json' | 'bearer';
  readonly key: string;
  readonly value: string;
  readonly offset: number;
}

/** A step read as text, one character for each byte. Long steps are read only at their beginning. */
export interface StepText {
  readonly step: RecordedStep;
  readonly text: string;
  readonly values: readonly NamedValue[];
}

const maxBytes = 262_144;
const maxValue = 4096;

export const readStep = (step: RecordedStep): StepText => {
  const { buffer, byteOffset, length } = step.bytes;
  const text = Buffer.from(buffer, byteOffset, Math.min(length, maxBytes)).toString('latin1');
  const message = step.side === 'client' ? findHttpMessage(step.bytes) : undefined;
  return { step, text, values: message === undefined ? [] : [...namedValues(text, message.bodyOffset)] };
};

function* namedValues(text: string, bodyOffset: number): Generator<NamedValue> {
  const head = text.slice(0, bodyOffset);
  const lineEnd = head.indexOf('\r\n');
  const query = head.slice(0, lineEnd).indexOf('?');
  if (query >= 0) yield* pairs('query', head.slice(query + 1, head.lastIndexOf(' ', lineEnd)), query + 1);
  for (const { 1: key = '', 2: gap = '', 3: value = '', index } of head.matchAll(/^([^:\r\n]+)(:[ \t]*)([^\r\n]*)/gm)) {
    if (index === 0) continue;
    yield* headerValues(key.toLowerCase(), value, index + key.length + gap.length);
  }
  const body = text.slice(bodyOffset);
  if (/^\s*[[{]/.test(body)) yield* jsonValues(body, bodyOffset);
  else if (/^[\w.%+~[\]-]+=/.test(body)) yield* pairs('form', body, bodyOffset);
}

function* headerValues(key: string, value: string, offset: number): Generator<NamedValue> {
  const [, scheme = '', token] = /^(bearer +)(\S+)$/i.exec(value) ?? [];
  if (key === 'authorization' && token) yield { kind: 'bearer', key, value: token, offset: offset + scheme.length };
  else if (key === 'cookie') {
    for (const { 1: name = '', 2: text = '', index } of value.matchAll(/([^=;\s]+)=([^;]*)/g)) {
      yield { kind: 'cookie', key: name, value: text, offset: offset + index + name.length + 1 };
    }
  } else yield { kind: 'header', key, value: value.trimEnd(), offset };
}

function* pairs(kind: 'query' | 'form', text: string, offset: number): Generator<NamedValue> {
  for (const { 1: key = '', 2: value = '', index } of text.matchAll(/([^=&]*)=([^&]*)/g)) {
    yield { kind, key, value, offset: offset + index + key.length + 1 };
  }
}

function* jsonValues(text: string, offset: number): Generator<NamedValue> {
  const member = /"([\w.$-]{1,64})"\s*:\s*(?:"([^"\\]{1,4096})"|(-?\d{1,20})(?=[\s,}\]]))/g;
  for (const { 0: all, 1: key = '', 2: string, 3: number, index } of text.matchAll(member)) {
    const value = string ?? number ?? '';
    const end = offset + index + all.length - (string === undefined ? 0 : 1);
    yield { kind: 'json', key, value, offset: end - value.length };
  }
}

export const isUsable = ({ value }: NamedValue) => value.length > 0 && value.length <= maxValue;
