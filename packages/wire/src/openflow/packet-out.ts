import { outputsOf } from './actions.ts';
import { readOxmMatch } from './match.ts';
import { headerBytes } from './message.ts';

/** A packet that the controller sends through a switch. */
export interface PacketOut {
  readonly inPort: number;
  readonly ports: readonly number[];
  readonly frame: Uint8Array;
}

/** Reads a message of any version; the name of the error if it is not valid. */
export const readPacketOut = (message: Uint8Array, version: number): PacketOut | 'badLength' | 'badMatch' => {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const at = headerBytes;
  const fixedBytes = version === 1 ? 8 : 16;
  if (message.length < at + fixedBytes) return 'badLength';
  let actions = at + fixedBytes;
  let inPort = version === 1 ? view.getUint16(at + 4) : view.getUint32(at + 4);
  let length = view.getUint16(at + (version === 1 ? 6 : 8));
  if (version === 6) {
    length = view.getUint16(at + 4);
    const read = readOxmMatch(view, at + 8);
    if (read === undefined) return 'badMatch';
    inPort = Number(read.match.get(0)?.value ?? 0n);
    actions = read.end;
  }
  const end = actions + length;
  if (end > message.length) return 'badLength';
  return { inPort, ports: outputsOf(view, actions, end, version), frame: message.subarray(end) };
};
