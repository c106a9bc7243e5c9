import { type TProperties, type TSchema, Type } from 'typebox';
import { optional, StrictObject, strict } from '../../schema.ts';
import { addressPattern } from '../protocols/field.ts';

const largest = Number.MAX_SAFE_INTEGER;
const mostPerSecond = 1_000_000_000;

/** Members without a default: the writer may leave them out, and then they are absent. */
export const maybeWhole = (description: string, [minimum, maximum]: readonly [number, number] = [0, largest]) =>
  Type.Optional(Type.Integer({ description, minimum, maximum }));

export const maybeNumber = (description: string, more: object = {}) =>
  Type.Optional(Type.Number({ description, ...more }));

export const maybeText = (description: string, more: object = {}) =>
  optional.string({ description, minLength: 1, maxLength: 4096, ...more });

/** Events in a second. */
export const maybeRate = (description: string) => maybeWhole(description, [1, mostPerSecond]);

/** A whole number of milliseconds. */
export const milliseconds = (description: string, value: number, maximum = 86_400_000) =>
  Type.Integer({ description, default: value, minimum: 0, maximum });

/** 0 or 1: the document gives some flags as integers. */
export const bit = (description: string, value: 0 | 1 = 0) =>
  Type.Integer({ description: `${description}; 1 for yes`, default: value, minimum: 0, maximum: 1 });

export const address = (description: string) =>
  optional.string({ description, maxLength: 45, pattern: addressPattern });

/** Ports and ranges, such as "80,8000-8100". */
export const portsPattern = '^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$';

export const listOf = <S extends TSchema>(description: string, item: S, maxItems = 1000) =>
  Type.Array(item, { description, default: [], maxItems });

/** An object that is there only when it is given. */
export const maybeGroup = <P extends TProperties>(description: string, members: P) =>
  Type.Optional(Type.Object(members, { description, ...strict }));

export const item = <P extends TProperties>(members: P) => StrictObject(members);

/** Accepted because the document has it, but nothing honours it yet: validation warns when it is given. */
export const ignored = <S extends TSchema>(schema: S): S =>
  // Descriptors, because what makes a member optional is not enumerable.
  Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(schema),
      'x-ignored': { value: true, enumerable: true },
    },
  ) as S;

/** The schema of a plugin's `values`. */
export const valuesOf = <P extends TProperties>(members: P) => StrictObject(members);
