import { type Answer, headerOf } from './answer.ts';

const freshMsOf = ({ headers }: Answer): number => {
  const control = headerOf(headers, 'cache-control')?.toLowerCase() ?? '';
  if (/no-store|no-cache/.test(control)) return 0;
  const maxAge = /max-age=(\d+)/.exec(control)?.[1];
  if (maxAge !== undefined) return Number(maxAge) * 1000;
  const expires = Date.parse(headerOf(headers, 'expires') ?? '');
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  // A recorded answer is as old as the recording: what counts is how long it was good for then.
  return Number.isNaN(expires) ? 0 : Math.max(0, expires - (Number.isNaN(date) ? Date.now() : date));
};

/** Answers that one user keeps. Only that they are there matters: nobody looks into them. */
export class BrowserCache {
  readonly #freshUntil = new Map<string, number>();

  keep(address: string, method: string, answer: Answer): void {
    const freshMs = method === 'GET' && answer.status === 200 ? freshMsOf(answer) : 0;
    if (freshMs > 0) this.#freshUntil.set(address, performance.now() + freshMs);
  }

  holds(address: string, method: string): boolean {
    return method === 'GET' && (this.#freshUntil.get(address) ?? 0) > performance.now();
  }
}
