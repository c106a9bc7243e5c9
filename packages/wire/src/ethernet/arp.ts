import type { Memory } from '../bytes/memory.ts';
import { copyMac } from './ethernet.ts';

export const arpBytes = 28;
export const arpOperation = { request: 1, reply: 2 } as const;

/** An ARP message for IPv4 over Ethernet (RFC 826), parsed into one object that is used again. */
export class ArpMessage {
  operation = 0;
  sender = 0;
  target = 0;
  /** Where the MAC of the sender stands in the memory. */
  senderMacAt = 0;

  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < arpBytes) return false;
    if (view.getInt32(start) !== 0x00010800 || view.getUint16(start + 4) !== 0x0604) return false;
    this.operation = view.getUint16(start + 6);
    this.senderMacAt = start + 8;
    this.sender = view.getInt32(start + 14);
    this.target = view.getInt32(start + 24);
    return true;
  }
}

/** Writes a message; the MAC of the sender is at `senderMacAt` of the same memory, that of the target may be unknown. */
export const writeArp = (
  { view, bytes }: Memory,
  at: number,
  message: {
    operation: number;
    sender: number;
    target: number;
    targetMac: Uint8Array | undefined;
    senderMac: Uint8Array;
  },
): void => {
  view.setInt32(at, 0x00010800);
  view.setUint16(at + 4, 0x0604);
  view.setUint16(at + 6, message.operation);
  copyMac(message.senderMac, 0, bytes, at + 8);
  view.setInt32(at + 14, message.sender);
  if (message.targetMac === undefined) bytes.fill(0, at + 18, at + 24);
  else copyMac(message.targetMac, 0, bytes, at + 18);
  view.setInt32(at + 24, message.target);
};
