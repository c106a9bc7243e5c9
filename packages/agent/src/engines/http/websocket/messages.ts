import { randomFillSync } from 'node:crypto';
import type { WebSocketSettings } from '@rushhour/protocol';
import { messagesOf } from '../../../net/load/payload.ts';

/** The messages of a configuration, in turn. Throws when a text is none. */
export const webSocketMessages = ({ message, isText, mode }: WebSocketSettings): Buffer[] => {
  const messages = messagesOf(message);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  if (isText) {
    for (const bytes of messages) {
      try {
        decoder.decode(bytes);
      } catch {
        throw new Error(`a message is not UTF-8: it cannot be sent as text (mode ${mode})`);
      }
    }
  }
  return messages;
};

/** Unpredictable masks, drawn many at once. */
const createMasks = (): (() => number) => {
  const masks = new Uint32Array(1024);
  let next = masks.length;
  return () => {
    if (next === masks.length) {
      randomFillSync(masks);
      next = 0;
    }
    return masks[next++] as number;
  };
};

export const createMask = createMasks();
