import type { Header } from '../hpack.ts';

const values = (name: string, ...all: readonly string[]): Header[] => all.map((value): Header => [name, value]);
const names = (...all: readonly string[]): Header[] => all.map((name): Header => [name, '']);

/** RFC 9204, appendix A. */
export const qpackStaticTable: readonly Header[] = [
  ...names(':authority'),
  ...values(':path', '/'),
  ...values('age', '0'),
  ...names('content-disposition'),
  ...values('content-length', '0'),
  ...names('cookie', 'date', 'etag', 'if-modified-since', 'if-none-match', 'last-modified', 'link', 'location'),
  ...names('referer', 'set-cookie'),
  ...values(':method', 'CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'),
  ...values(':scheme', 'http', 'https'),
  ...values(':status', '103', '200', '304', '404', '503'),
  ...values('accept', '*/*', 'application/dns-message'),
  ...values('accept-encoding', 'gzip, deflate, br'),
  ...values('accept-ranges', 'bytes'),
  ...values('access-control-allow-headers', 'cache-control', 'content-type'),
  ...values('access-control-allow-origin', '*'),
  ...values('cache-control', 'max-age=0', 'max-age=2592000', 'max-age=604800', 'no-cache', 'no-store'),
  ...values('cache-control', 'public, max-age=31536000'),
  ...values('content-encoding', 'br', 'gzip'),
  ...values('content-type', 'application/dns-message', 'application/javascript', 'application/json'),
  ...values('content-type', 'application/x-www-form-urlencoded', 'image/gif', 'image/jpeg', 'image/png', 'text/css'),
  ...values('content-type', 'text/html; charset=utf-8', 'text/plain', 'text/plain;charset=utf-8'),
  ...values('range', 'bytes=0-'),
  ...values('strict-transport-security', 'max-age=31536000', 'max-age=31536000; includesubdomains'),
  ...values('strict-transport-security', 'max-age=31536000; includesubdomains; preload'),
  ...values('vary', 'accept-encoding', 'origin'),
  ...values('x-content-type-options', 'nosniff'),
  ...values('x-xss-protection', '1; mode=block'),
  ...values(':status', '100', '204', '206', '302', '400', '403', '421', '425', '500'),
  ...names('accept-language'),
  ...values('access-control-allow-credentials', 'FALSE', 'TRUE'),
  ...values('access-control-allow-headers', '*'),
  ...values('access-control-allow-methods', 'get', 'get, post, options', 'options'),
  ...values('access-control-expose-headers', 'content-length'),
  ...values('access-control-request-headers', 'content-type'),
  ...values('access-control-request-method', 'get', 'post'),
  ...values('alt-svc', 'clear'),
  ...names('authorization'),
  ...values('content-security-policy', "script-src 'none'; object-src 'none'; base-uri 'none'"),
  ...values('early-data', '1'),
  ...names('expect-ct', 'forwarded', 'if-range', 'origin'),
  ...values('purpose', 'prefetch'),
  ...names('server'),
  ...values('timing-allow-origin', '*'),
  ...values('upgrade-insecure-requests', '1'),
  ...names('user-agent', 'x-forwarded-for'),
  ...values('x-frame-options', 'deny', 'sameorigin'),
];

const entryOverhead = 32;
export const fieldBytes = ([name, value]: Header): number => name.length + value.length + entryOverhead;

/** Entries that a table of this size can have at most. */
export const maxEntriesOf = (maxBytes: number): number => Math.floor(maxBytes / entryOverhead);

/** The newest entries by absolute index, counted from 0 at the first that was ever inserted. */
export class QpackTable {
  readonly #entries: Header[] = [];
  /** Absolute index of the oldest entry. */
  #first = 0;
  #bytes = 0;
  #maxBytes = 0;

  get maxBytes(): number {
    return this.#maxBytes;
  }

  get inserted(): number {
    return this.#first + this.#entries.length;
  }

  get first(): number {
    return this.#first;
  }

  find(index: number): Header | undefined {
    return index < this.#first ? undefined : this.#entries[index - this.#first];
  }

  /** Bytes that have to be evicted before an entry of this size can be added. */
  missing(size: number): number {
    return Math.max(0, this.#bytes + size - this.#maxBytes);
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#evict(0);
  }

  /** False if it is larger than the table. */
  add(header: Header): boolean {
    const size = fieldBytes(header);
    if (size > this.#maxBytes) return false;
    this.#evict(size);
    this.#entries.push(header);
    this.#bytes += size;
    return true;
  }

  #evict(needed: number): void {
    let count = 0;
    for (; count < this.#entries.length && this.#bytes + needed > this.#maxBytes; count++)
      this.#bytes -= fieldBytes(this.#entries[count] as Header);
    if (count === 0) return;
    this.#entries.splice(0, count);
    this.#first += count;
  }
}
