import { describe, expect, it } from 'vitest';
import { CookieJar } from './cookie-jar.ts';

const at = (host: string, path = '/', isTls = true) => ({ host, path, isTls });
const jarWith = (host: string, path: string, ...lines: string[]) => {
  const jar = new CookieJar();
  jar.keep(
    lines.map((value) => ({ name: 'Set-Cookie', value })),
    at(host, path),
  );
  return jar;
};

describe('a cookie jar', () => {
  it('sends cookies to the host that set them and to subdomains of their domain', () => {
    const jar = jarWith('a.test', '/', 'own=1', 'wide=2; Domain=.a.test', 'foreign=3; Domain=b.test');
    expect(jar.headerFor(at('a.test'))).toBe('own=1; wide=2');
    expect(jar.headerFor(at('x.a.test'))).toBe('wide=2');
    expect(jar.headerFor(at('b.test'))).toBeUndefined();
    expect(jar.headerFor(at('nota.test'))).toBeUndefined();
  });

  it('matches paths, longer ones first', () => {
    const jar = jarWith('a.test', '/shop/cart?x=/y', 'folder=1', 'all=2; Path=/', 'deep=3; Path=/shop/cart/pay');
    expect(jar.headerFor(at('a.test', '/shop/other?q=/shop/cart/pay'))).toBe('folder=1; all=2');
    expect(jar.headerFor(at('a.test', '/shop/cart/pay/now'))).toBe('deep=3; folder=1; all=2');
    expect(jar.headerFor(at('a.test', '/shopping'))).toBe('all=2');
  });

  it('deletes expired and removed cookies and sends secure ones only over TLS', () => {
    const jar = jarWith(
      'a.test',
      '/',
      'old=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      'a=1; Max-Age=60',
      's=2; Secure',
    );
    expect(jar.headerFor(at('a.test'))).toBe('a=1; s=2');
    expect(jar.headerFor(at('a.test', '/', false))).toBe('a=1');
    jar.keep([{ name: 'set-cookie', value: 'a=; Max-Age=0' }], at('a.test'));
    expect(jar.headerFor(at('a.test', '/', false))).toBeUndefined();
  });

  it('rejects cookies without a name', () => {
    expect(jarWith('a.test', '/', '', '=x', 'novalue').headerFor(at('a.test'))).toBeUndefined();
  });
});
