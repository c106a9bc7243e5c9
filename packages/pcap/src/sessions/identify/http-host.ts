import { latin1 } from '../../bytes.ts';

const MAX_HEADER_BYTES = 8192;

/** Host of a request, '' when it has none, undefined while its header is not complete. */
export function findHttpHost(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = latin1(bytes, start, Math.min(end, start + MAX_HEADER_BYTES));
  const host = /\r?\nhost:[ \t]*([^\r\n]*)\r?\n/i.exec(text)?.[1];
  if (host !== undefined) return printable(host.trim());
  const isWhole = text.length >= MAX_HEADER_BYTES || /\r?\n\r?\n/.test(text);
  if (!isWhole) return undefined;
  return printable(/^\S+ https?:\/\/([^/\s]+)/i.exec(text)?.[1] ?? '');
}

/** Rejects names with unprintable bytes. The copy releases the larger text it was cut from. */
export function printable(name: string): string {
  return name.length <= 255 && /^[\x21-\x7e]*$/.test(name) ? Buffer.from(name, 'latin1').toString('latin1') : '';
}
