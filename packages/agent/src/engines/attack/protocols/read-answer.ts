import type { ClientConnection } from '../transport/client-connection.ts';
import { type HttpMessage, HttpReader, headerIn } from './http/http-reader.ts';

export interface Answer extends HttpMessage {
  /** The connection can be reused: no extra bytes, and the server keeps it alive. */
  readonly isKept: boolean;
}

const answerOf = (message: HttpMessage, reader: HttpReader): Answer => {
  const isKept = message.startLine.startsWith('HTTP/1.1') && !/\bclose\b/i.test(headerIn(message, 'connection') ?? '');
  return { ...message, isKept: isKept && reader.begun === undefined };
};

/** The head and as much of the body as came. */
const cutShort = ({ begun }: HttpReader): Answer | undefined =>
  begun?.head && { ...begun.head, body: begun.bytes, bytes: begun.head.bytes + begun.bytes.length, isKept: false };

/** Reads one answer; undefined without one, and when one that `isWhole` requires is incomplete. */
export const readAnswer = async (
  connection: ClientConnection,
  method: string,
  isWhole: (answer: Answer) => boolean = () => true,
): Promise<Answer | undefined> => {
  const reader = new HttpReader('answer', (startLine) => method !== 'HEAD' && !/^HTTP\/\S+ (204|304)/.test(startLine));
  try {
    for (;;) {
      const isMore = await connection.more();
      const [message] = reader.feed(connection.take());
      if (message !== undefined) return answerOf(message, reader);
      const last = !isMore && connection.end === 'fin' ? reader.finish() : undefined;
      if (last !== undefined) return { ...last, isKept: false };
      if (!isMore) {
        const cut = cutShort(reader);
        return cut === undefined || isWhole(cut) ? undefined : cut;
      }
    }
  } catch {
    return undefined;
  }
};
