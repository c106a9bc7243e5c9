import { isIP } from 'node:net';
import type { HarHeader } from '@rushhour/protocol';

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** Sent only to the host that set it. */
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Host, path and scheme of a request. */
export interface CookieScope {
  readonly host: string;
  readonly path: string;
  readonly isTls: boolean;
}

const isWithin = (host: string, domain: string): boolean =>
  host === domain || (host.endsWith(`.${domain}`) && isIP(host) === 0);

const isBelow = (path: string, prefix: string): boolean =>
  path === prefix || (path.startsWith(prefix) && (prefix.endsWith('/') || path[prefix.length] === '/'));

const folderOf = (path: string): string => {
  const plain = path.split(/[?#]/, 1)[0] ?? '';
  const at = plain.lastIndexOf('/');
  return at <= 0 ? '/' : plain.slice(0, at);
};

const expiryOf = (attributes: ReadonlyMap<string, string>): number => {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) {
    return Number(maxAge) > 0 ? Date.now() + Number(maxAge) * 1000 : 0;
  }
  const expires = Date.parse(attributes.get('expires') ?? '');
  return Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires;
};

const cookieOf = (line: string, { host, path }: CookieScope): Cookie | undefined => {
  const [pair = '', ...rest] = line.split(';');
  const at = pair.indexOf('=');
  if (at < 1) return undefined;
  const attributes = new Map(
    rest.map((attribute) => {
      const [name = '', ...value] = attribute.split('=');
      return [name.trim().toLowerCase(), value.join('=').trim()];
    }),
  );
  const domain = attributes.get('domain')?.replace(/^\./, '').toLowerCase() ?? '';
  if (domain !== '' && !isWithin(host, domain)) return undefined;
  const wanted = attributes.get('path');
  return {
    name: pair.slice(0, at).trim(),
    value: pair.slice(at + 1).trim(),
    domain: domain || host,
    isHostOnly: domain === '',
    path: wanted?.startsWith('/') ? wanted : folderOf(path),
    isSecure: attributes.has('secure'),
    expiresAt: expiryOf(attributes),
  };
};

/** The cookies of one user (RFC 6265). */
export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();

  get isEmpty(): boolean {
    return this.#cookies.size === 0;
  }

  keep(headers: readonly HarHeader[], scope: CookieScope): void {
    for (const { name, value } of headers) {
      if (name.toLowerCase() !== 'set-cookie') continue;
      const cookie = cookieOf(value, scope);
      if (cookie === undefined) continue;
      const key = `${cookie.domain} ${cookie.path} ${cookie.name}`;
      if (cookie.expiresAt > Date.now()) this.#cookies.set(key, cookie);
      else this.#cookies.delete(key);
    }
  }

  /** Value of the Cookie header; undefined without cookies. Longer paths come first. */
  headerFor({ host, path, isTls }: CookieScope): string | undefined {
    const now = Date.now();
    const plain = path.split(/[?#]/, 1)[0] ?? '/';
    const sent = [...this.#cookies.values()].filter(
      (cookie) =>
        (cookie.isHostOnly ? host === cookie.domain : isWithin(host, cookie.domain)) &&
        isBelow(plain, cookie.path) &&
        (isTls || !cookie.isSecure) &&
        cookie.expiresAt > now,
    );
    if (sent.length === 0) return undefined;
    sent.sort((a, b) => b.path.length - a.path.length);
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ');
  }
}
