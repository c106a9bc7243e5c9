import { Type } from 'typebox';
import { Nullable } from './schema.ts';

/** Ids start at 1 and are safe integers, so JSON carries them exactly. */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, milliseconds' });

/** A timestamp that is `null` until it happens. */
export const NullableTimestamp = Nullable(
  Type.String({ description: 'RFC 3339, UTC, milliseconds; null while unset' }),
);

export const NullableInteger = Nullable(
  Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
);
export const NullableNumber = Nullable(Type.Number());

/** The name a user gives to a record: one line. */
export const Name = Type.String({ minLength: 1, maxLength: 128, pattern: '^\\S(.*\\S)?$', description: 'Unique name' });

export const Description = Type.String({ maxLength: 4096 });

export const Email = Type.String({ format: 'email', maxLength: 254 });

export const Tags = Type.String({
  maxLength: 2080,
  pattern: '^([a-z0-9._:-]{1,64}(,[a-z0-9._:-]{1,64}){0,31})?$',
  description: 'Lower-case tags joined by commas, at most 32',
});
