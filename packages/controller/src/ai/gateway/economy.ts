import { ApiError } from '../../errors.ts';

export const maxBytes = 256 * 1024;

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '');

interface Envelope {
  data: unknown;
  truncated?: boolean | undefined;
}

type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Shortens the largest part of a value repeatedly until it fits. */
const shrink = (data: unknown, max: number): unknown => {
  if (typeof data === 'string') return data.slice(0, max / 4);
  if (Array.isArray(data)) return data.slice(0, Math.floor(data.length / 2));
  if (!isMembers(data)) return data;
  const [largest] = Object.entries(data)
    .map(([name, member]) => ({ name, bytes: sizeOf(member) }))
    .sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined) return data;
  const shorter = shrink(data[largest.name], max);
  return { ...data, [largest.name]: sizeOf(shorter) < largest.bytes ? shorter : null };
};

/** An answer limited in bytes; it says where it was cut. */
export const capped = <T>(reply: T, max = maxBytes): T => {
  if (!isMembers(reply) || !('data' in reply) || sizeOf(reply) <= max) return reply;
  let cut: Envelope = reply as unknown as Envelope;
  while (sizeOf(cut) > max - 100) cut = { ...cut, data: shrink(cut.data, max) };
  const data = isMembers(cut.data) ? { ...cut.data, truncated: true } : cut.data;
  return { ...cut, data, truncated: true } as T;
};

/** The part of a value that a JSON pointer names. */
export const partAt = (value: unknown, pointer: string | undefined): unknown => {
  if (pointer === undefined || pointer === '') return value;
  let part = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    const isThere = typeof part === 'object' && part !== null && Object.prototype.propertyIsEnumerable.call(part, name);
    if (!isThere) throw new ApiError('notFound', 'NO_SUCH_PATH', `there is nothing at ${pointer}`, { path: pointer });
    part = (part as Members)[name];
  }
  return part;
};
