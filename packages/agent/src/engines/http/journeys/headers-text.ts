import type { Header } from '@rushhour/wire';

/** A request of HTTP/2 or HTTP/3 for people. */
export const headersText = (headers: readonly Header[], body: Buffer | undefined): string =>
  [...headers.map(([name, value]) => `${name}: ${value}`), '', body?.toString() ?? ''].join('\r\n');
