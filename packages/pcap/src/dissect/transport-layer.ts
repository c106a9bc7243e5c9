import { i32, u8, u16 } from '../bytes.ts';
import { type Frame, TCP, UDP } from './frame.ts';

/** Up to and with the flags; a frame cut after them still counts for its session. */
const TCP_NEEDED = 14;

/** Sets ports and payload of TCP and UDP; `hasPorts` tells whether it could. */
export function readTransportLayer(frame: Frame): void {
  frame.hasPorts = false;
  if (frame.protocol === TCP) readTcp(frame);
  else if (frame.protocol === UDP) readUdp(frame);
}

function readTcp(frame: Frame): void {
  const { bytes, transportStart: at, transportLength, captured } = frame;
  if (captured < TCP_NEEDED) return;
  const headerLength = (u8(bytes, at + 12) >>> 4) * 4;
  if (headerLength < 20 || headerLength > transportLength) return;
  frame.hasPorts = true;
  frame.sourcePort = u16(bytes, at);
  frame.destinationPort = u16(bytes, at + 2);
  frame.sequence = i32(bytes, at + 4);
  frame.acknowledgement = i32(bytes, at + 8);
  frame.flags = u8(bytes, at + 13);
  frame.window = captured >= 16 ? u16(bytes, at + 14) : 0;
  setPayload(frame, headerLength, transportLength - headerLength);
}

function readUdp(frame: Frame): void {
  const { bytes, transportStart: at, transportLength, captured } = frame;
  if (captured < 8) return;
  frame.hasPorts = true;
  frame.sourcePort = u16(bytes, at);
  frame.destinationPort = u16(bytes, at + 2);
  // A length of zero means a jumbogram: the IP length applies.
  const length = u16(bytes, at + 4) || transportLength;
  setPayload(frame, 8, Math.max(0, Math.min(length, transportLength) - 8));
}

function setPayload(frame: Frame, headerLength: number, length: number): void {
  frame.payloadStart = frame.transportStart + headerLength;
  frame.payloadLength = length;
  frame.payloadCaptured = Math.min(length, Math.max(0, frame.captured - headerLength));
}
