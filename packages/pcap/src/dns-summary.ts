import { latin1, u8, u16 } from './bytes.ts';

const TYPES = new Map([
  [1, 'A'],
  [2, 'NS'],
  [5, 'CNAME'],
  [6, 'SOA'],
  [12, 'PTR'],
  [15, 'MX'],
  [16, 'TXT'],
  [28, 'AAAA'],
  [33, 'SRV'],
  [64, 'SVCB'],
  [65, 'HTTPS'],
  [255, 'ANY'],
]);
const MAX_NAME = 255;

/** One line about a DNS message of at least 12 bytes. */
export function dnsSummary(bytes: Uint8Array, start: number, end: number): string {
  const flags = u16(bytes, start + 2);
  const isResponse = (flags & 0x8000) !== 0;
  const question = u16(bytes, start + 4) > 0 ? questionText(bytes, start + 12, end) : '';
  const kind = isResponse ? `response ${u16(bytes, start + 6)} answers, code ${flags & 15}` : 'query';
  return `${kind}${question}`;
}

function questionText(bytes: Uint8Array, start: number, end: number): string {
  const labels: string[] = [];
  let at = start;
  // A question name is never compressed; anything else ends the reading.
  while (at < end && at - start < MAX_NAME) {
    const length = u8(bytes, at);
    if (length === 0) break;
    if (length > 63 || at + 1 + length > end) return '';
    labels.push(latin1(bytes, at + 1, at + 1 + length).replace(/[^\x21-\x7e]/g, '?'));
    at += 1 + length;
  }
  if (at + 5 > end) return '';
  const type = u16(bytes, at + 1);
  return ` ${TYPES.get(type) ?? `TYPE${type}`} ${labels.join('.') || '.'}`;
}
