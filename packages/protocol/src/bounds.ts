import { Type } from 'typebox';

// Agents are not trusted: every value they send has bounds that the database and the reports can represent.
const maxSafe = Number.MAX_SAFE_INTEGER;
/** The last instant that a date with a year of four digits can represent, milliseconds since 1970. */
const maxInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const maxAmount = 1e18;

type Described = { readonly description?: string };

export const count = (options: Described = {}) => Type.Integer({ minimum: 0, maximum: maxSafe, ...options });
export const ordinal = (options: Described = {}) => Type.Integer({ minimum: 1, maximum: maxSafe, ...options });
/** Milliseconds since 1970. */
export const instant = (options: Described = {}) => Type.Number({ minimum: 0, maximum: maxInstant, ...options });
/** Whether a number is milliseconds since 1970 that can be written as a date. */
export const isInstant = (ms: number): boolean => ms >= 0 && ms <= maxInstant;
/** A measured value; large enough for bytes per second of any machine. */
export const amount = (options: Described = {}) => Type.Number({ minimum: -maxAmount, maximum: maxAmount, ...options });
/** A name or other short text. */
export const short = (options: Described = {}) => Type.String({ maxLength: 256, ...options });
/** A message or other long text. */
export const long = (options: Described = {}) => Type.String({ maxLength: 65_536, ...options });
