import type { FlowSelector } from './flow-table.ts';
import { fixedMatchBytes, type Match, readFixedMatch, readMatch } from './match.ts';
import { headerBytes } from './message.ts';

const command = { add: 0, modify: 1, modifyStrict: 2, delete: 3, deleteStrict: 4 } as const;
const allTables = 0xff;
const allBits = 0xffffffffffffffffn;

/** A change of the flow tables. */
export interface FlowMod extends FlowSelector {
  readonly kind: 'add' | 'modify' | 'delete';
  readonly idleSec: number;
  readonly hardSec: number;
  readonly flags: number;
  readonly importance: number;
  readonly matchBytes: Uint8Array;
  readonly actionBytes: Uint8Array;
}

const kindOf = (code: number): FlowMod['kind'] | undefined => {
  if (code === command.add) return 'add';
  if (code === command.modify || code === command.modifyStrict) return 'modify';
  return code === command.delete || code === command.deleteStrict ? 'delete' : undefined;
};

const isStrictCode = (code: number) => code === command.modifyStrict || code === command.deleteStrict;

/** Reads a message; undefined if it is not valid, with the name of the error. */
export const readFlowMod = (message: Uint8Array, version: number): FlowMod | 'badCommand' | 'badMatch' | 'badLength' =>
  version === 1 ? readFixed(message) : readLater(message, version);

const readFixed = (message: Uint8Array): FlowMod | 'badCommand' | 'badLength' => {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const at = headerBytes + fixedMatchBytes;
  if (message.length < at + 24) return 'badLength';
  const code = view.getUint16(at + 8);
  const kind = kindOf(code);
  if (kind === undefined) return 'badCommand';
  const match: Match = readFixedMatch(view, headerBytes);
  return {
    ...{ kind, match, isStrict: isStrictCode(code), table: kind === 'add' ? 0 : -1 },
    // Version 1.0 selects by match alone.
    ...{ cookie: kind === 'add' ? view.getBigUint64(at) : 0n, cookieMask: 0n },
    ...{ idleSec: view.getUint16(at + 10), hardSec: view.getUint16(at + 12), priority: view.getUint16(at + 14) },
    ...{ flags: view.getUint16(at + 22), importance: 0 },
    matchBytes: message.slice(headerBytes, at),
    actionBytes: message.slice(at + 24),
  };
};

const readLater = (message: Uint8Array, version: number): FlowMod | 'badCommand' | 'badMatch' | 'badLength' => {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const at = headerBytes;
  if (message.length < at + 48) return 'badLength';
  const code = view.getUint8(at + 17);
  const kind = kindOf(code);
  if (kind === undefined) return 'badCommand';
  const read = readMatch(view, at + 40, version);
  if (read === undefined) return 'badMatch';
  const table = view.getUint8(at + 16);
  return {
    ...{ kind, match: read.match, isStrict: isStrictCode(code), table: table === allTables ? -1 : table },
    ...{ cookie: view.getBigUint64(at), cookieMask: kind === 'add' ? allBits : view.getBigUint64(at + 8) },
    ...{ idleSec: view.getUint16(at + 18), hardSec: view.getUint16(at + 20), priority: view.getUint16(at + 22) },
    ...{ flags: view.getUint16(at + 36), importance: version >= 5 ? view.getUint16(at + 38) : 0 },
    matchBytes: message.slice(at + 40, read.end),
    actionBytes: message.slice(read.end),
  };
};
