import type { FlowKey } from '../dissect/flow-table.ts';
import type { Session } from './session.ts';

export interface ClientChoice {
  /** Address of the client, as 4 or 16 bytes. */
  readonly clientIp: Uint8Array | undefined;
  /** Whether the address overrides the handshake. */
  readonly clientIpOverrides: boolean;
}

type SeenOfSession = Pick<Session, 'synFrom' | 'synAckFrom' | 'isFirstPacketFromA'>;

/** Whether A is the client: by SYN, SYN-ACK, address, higher port, first sender, in this order. */
export function isClientA(session: SeenOfSession, key: FlowKey, choice: ClientChoice): boolean {
  const byAddress = sideOfAddress(key, choice.clientIp);
  if (choice.clientIpOverrides && byAddress !== undefined) return byAddress;
  if (session.synFrom !== 0) return session.synFrom === 1;
  if (session.synAckFrom !== 0) return session.synAckFrom === 2;
  if (byAddress !== undefined) return byAddress;
  if (key.portA !== key.portB) return key.portA > key.portB;
  return session.isFirstPacketFromA;
}

function sideOfAddress(key: FlowKey, clientIp: Uint8Array | undefined): boolean | undefined {
  if (clientIp === undefined) return undefined;
  const isA = isSame(key.addressA, clientIp);
  return isA === isSame(key.addressB, clientIp) ? undefined : isA;
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
