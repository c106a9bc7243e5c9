import type { RawExchange } from '@rushhour/protocol';
import type { AttackContext } from '../../driver.ts';
import { proofOf } from '../../proof.ts';

export const proofRequest = (nonce: string): Buffer => Buffer.from(`proof ${nonce}\n`);

export const proofAnswer = (context: AttackContext, nonce: string): Buffer =>
  Buffer.from(`proof ${proofOf(context.proofKey, nonce)}\n`);

/** The nonce of a request for a proof. */
export const nonceIn = (bytes: Buffer): string | undefined =>
  /^proof ([0-9a-f]{32})\n$/.exec(bytes.toString('latin1', 0, 40))?.[1];

/** What one attempt says and hears, as bytes. */
export interface RawScript {
  readonly sends: readonly { readonly bytes: Buffer; readonly isAnswered: boolean; readonly delayMs: number }[];
  /** By send; empty where none is answered. */
  readonly answers: readonly Buffer[];
  /** What the server says before it is asked. */
  readonly greeting: Buffer;
}

/** The last send always gets a reply, as silence proves nothing. Without a reply of its own it gets a random one. */
export const scriptOf = (attempt: number, exchange: RawExchange, context: AttackContext): RawScript => {
  const defaultAnswer = Buffer.from(`ok ${proofOf(context.proofKey, `${context.runToken}/${attempt}`)}\n`);
  let answered = 0;
  const answers: Buffer[] = [];
  const sends = exchange.sends.map(({ content, waitResponse, delayMs = 0 }, index) => {
    const isAnswered = waitResponse || index === exchange.sends.length - 1;
    const own = exchange.answers[Math.min(answered, exchange.answers.length - 1)];
    if (isAnswered) answered += 1;
    answers.push(isAnswered ? (own === undefined ? defaultAnswer : context.bytesOf(own)) : Buffer.alloc(0));
    return { bytes: context.bytesOf(content), isAnswered, delayMs };
  });
  const greeting = exchange.greeting === undefined ? Buffer.alloc(0) : context.bytesOf(exchange.greeting);
  return { sends, answers, greeting };
};
