import type { Channel } from '../session/channel.ts';
import { type HttpMessage, NotHttp, parseMessage, statusOf } from './http-message.ts';

type Read =
  | { readonly message: HttpMessage }
  /** Reason for the missing message. */
  | { readonly problem: 'timeout' | 'ended' | 'bad'; readonly text: string };

interface ReadOptions {
  readonly kind: 'request' | 'response';
  readonly method?: string;
  readonly timeoutMs: number;
}

/** Reads the next message; interim responses are skipped. */
export const readMessage = async (channel: Channel, { kind, method, timeoutMs }: ReadOptions): Promise<Read> => {
  const deadline = performance.now() + timeoutMs;
  for (let wait = 'arrived'; ; ) {
    const arrived = channel.peek();
    try {
      const message = parseMessage(arrived, { kind, method, isEnded: wait === 'ended' });
      if (message !== undefined) {
        channel.take(message.length);
        if (kind === 'request' || statusOf(message) >= 200) return { message };
        continue;
      }
    } catch (error) {
      if (!(error instanceof NotHttp)) throw error;
      return { problem: 'bad', text: error.message };
    }
    if (wait !== 'arrived') return { problem: wait as 'timeout' | 'ended', text: `ends after ${arrived.length} bytes` };
    wait = await channel.wait(arrived.length + 1, Math.max(1, deadline - performance.now()));
  }
};
