// Sequence numbers are signed 32-bit integers, so that V8 keeps them unboxed; they compare by their difference.

export const isBefore = (a: number, b: number): boolean => ((a - b) | 0) < 0;
export const isAfter = (a: number, b: number): boolean => ((a - b) | 0) > 0;
/** Bytes from b to a. */
export const distance = (a: number, b: number): number => (a - b) | 0;
