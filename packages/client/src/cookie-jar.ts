import type { Send } from './routes-client.ts';

/** A `fetch` that keeps cookies, for programs; a browser does so by itself. */
export const cookieJar = (send: Send = fetch): Send & { readonly cookies: Map<string, string> } => {
  const cookies = new Map<string, string>();
  const withCookies: Send = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await send(url, { ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  return Object.assign(withCookies, { cookies });
};
