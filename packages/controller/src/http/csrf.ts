import type { IncomingMessage } from 'node:http';
import { forbidden } from '../errors.ts';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses changes that a page of another origin makes with our cookies. Browsers say where a request comes from;
 * a client that says nothing at all is no browser.
 */
export const assertSameOrigin = ({ method = '', headers }: IncomingMessage) => {
  if (safe.has(method) || headers.cookie === undefined) return;
  const site = headers['sec-fetch-site'];
  const isOwn =
    site === undefined
      ? headers.origin === undefined || hostOf(headers.origin) === headers.host
      : site === 'same-origin' || site === 'none';
  if (!isOwn) throw forbidden('CROSS_ORIGIN', 'a page of another origin may not change anything here');
};

const hostOf = (origin: string) => URL.parse(origin)?.host;
