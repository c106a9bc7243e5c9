import { randomFillSync } from 'node:crypto';
import type { Payload } from '@rushhour/protocol';

/** The bytes of a payload, values as lines. Random bytes are generated once and reused: generating them costs more than sending. */
export const payloadBytes = (payload: Payload): Buffer => {
  switch (payload.type) {
    case 'zero':
      return Buffer.alloc(payload.size);
    case 'random':
      return randomFillSync(Buffer.allocUnsafeSlow(payload.size));
    case 'pattern':
      return Buffer.alloc(payload.size, payload.data || '\0');
    case 'text':
      return Buffer.from(payload.data);
    case 'base64':
      return Buffer.from(payload.data, 'base64');
    case 'values':
      return Buffer.from((payload.values ?? []).map((value) => `${value}\n`).join(''));
  }
};

/** The bytes of every message, in the order in which they are sent: one value each, or always the same. */
export const messagesOf = (payload: Payload): Buffer[] =>
  payload.type === 'values' && payload.values !== undefined
    ? payload.values.map((value) => Buffer.from(value))
    : [payloadBytes(payload)];

/** The messages that have bytes; without any, one of `bulkBytes` zeros. */
export const filledMessages = (payload: Payload, bulkBytes: number): Buffer[] => {
  const filled = messagesOf(payload).filter(({ length }) => length > 0);
  return filled.length > 0 ? filled : [Buffer.alloc(bulkBytes)];
};
