import type { Attempt, HttpExchange } from '@rushhour/protocol';
import type { ServerContext } from '../driver.ts';
import { hashOfBytes } from '../proof.ts';
import { lineOf, markerHeader } from './http/http-form.ts';
import { type HttpMessage, headerIn } from './http/http-reader.ts';

type Step = HttpExchange['steps'][number];

export interface MatchedRequest {
  readonly attempt: Attempt;
  readonly step: number;
  /** It came past the device. */
  readonly isBare: boolean;
  readonly correlation: 'token' | 'content';
}

/** Finds the attempt of a request by its token, or without one by its content; identical requests match in order. */
export class RequestMatcher {
  readonly #context: ServerContext;
  readonly #open = new Map<string, { attempt: Attempt; step: number }[]>();

  constructor(service: string, context: ServerContext) {
    this.#context = context;
    if (context.marker) return;
    for (const attempt of context.attemptsOf(service)) {
      if (attempt.exchange.protocol !== 'http') continue;
      for (const [step, { request }] of attempt.exchange.steps.entries()) {
        const body = request.body === undefined ? Buffer.alloc(0) : context.bytesOf(request.body);
        const key = this.#key(`${request.method} ${request.path}`, body);
        this.#open.set(key, [...(this.#open.get(key) ?? []), { attempt, step }]);
      }
    }
  }

  find(message: Pick<HttpMessage, 'startLine' | 'headers' | 'body'>): MatchedRequest | undefined {
    const known = this.#context.attemptOf(headerIn(message, markerHeader) ?? '');
    if (known !== undefined) return { ...known, correlation: 'token' };
    const alike = this.#open.get(this.#key(lineOf(message), message.body)) ?? [];
    const exact = alike.findIndex(({ attempt, step }) => {
      const { request } = (attempt.exchange as HttpExchange).steps[step] as Step;
      const wanted = request.headers.map(({ name, value }) => `${name.trim().toLowerCase()}:${value.trim()}`);
      const received = new Set(message.headers.map(([name, value]) => `${name}:${value}`));
      return wanted.every((header) => received.has(header));
    });
    const [found] = alike.splice(Math.max(0, exact), 1);
    return found && { ...found, isBare: false, correlation: 'content' };
  }

  #key(line: string, body: Buffer): string {
    return `${line} ${hashOfBytes(body)}`;
  }
}
