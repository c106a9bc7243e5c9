import { hash } from 'node:crypto';
import { putU16 } from './bytes.ts';
import type { FlowKey } from './flow-table.ts';

/** Community ID version 1 with seed 0; the key is already in the order the standard asks for. */
export function communityIdOf(key: FlowKey): string {
  const count = key.addressA.length;
  const input = new Uint8Array(2 + 2 * count + 6);
  input.set(key.addressA, 2);
  input.set(key.addressB, 2 + count);
  input[2 + 2 * count] = key.protocol;
  putU16(input, 4 + 2 * count, key.portA);
  putU16(input, 6 + 2 * count, key.portB);
  return `1:${hash('sha1', input, 'base64')}`;
}
