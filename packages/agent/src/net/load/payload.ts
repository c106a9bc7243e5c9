import { randomFillSync } from 'node:crypto';
import type { Payload } from '@rushhour/protocol';

/** The bytes of a payload. Random bytes are generated once and reused: generating them costs more than sending. */
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
  }
};
