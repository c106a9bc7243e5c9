import type { Application } from '@rushhour/contract';

export type Parameter = Application['parameters'][number];
export type Mapping = Parameter['stepsMappings'][number];
/** A parameter in the editor; a stored one has an id. */
export type ParameterDraft = Partial<Parameter> & { name: string };

/** The form fields of each source of values. */
export const membersOf: Readonly<Record<string, readonly string[]>> = {
  fixed: ['defaultValue'],
  list: ['allowedValues'],
  counter: ['prefix', 'start', 'step', 'min', 'max'],
  random: ['prefix', 'min', 'max'],
  dictionary: ['defaultValue'],
  system: ['defaultValue'],
  extract: ['extractSessionIdx', 'extractStepIdx', 'extractOffset', 'extractLength'],
};

/** `base`, or `base2`, `base3` … when it is taken. */
export const freeName = (base: string, taken: readonly string[]): string => {
  if (!taken.includes(base)) return base;
  for (let number = 2; ; number += 1) {
    if (!taken.includes(`${base}${number}`)) return `${base}${number}`;
  }
};

const textOf = (bytes: Uint8Array) => {
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  return isText ? new TextDecoder().decode(bytes) : undefined;
};

export const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The default for selected bytes: the recorded value at its position, as text if it is printable. */
export const parameterFrom = (mapping: Mapping, recorded: Uint8Array, taken: readonly string[]): ParameterDraft => {
  const text = textOf(recorded);
  return {
    name: freeName('value', taken),
    source: 'fixed',
    ...(text === undefined ? { type: 'hex', defaultValue: hexOf(recorded) } : { defaultValue: text }),
    stepsMappings: [mapping],
  };
};
