import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Client, cookieJar, createClient, RequestFailed } from '@rushhour/client';

interface Saved {
  url: string;
  cookies: [string, string][];
}

const file = join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'rushhour', 'session.json');

const load = (): Saved | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Saved;
  } catch {
    return undefined;
  }
};

/** A client with the session stored by `rushhour login`; renewed tokens are saved. */
export const openSession = (url: string | undefined) => {
  const saved = load();
  const baseUrl = url ?? saved?.url ?? 'http://127.0.0.1:8080';
  const send = cookieJar();
  if (saved?.url === baseUrl) for (const [name, value] of saved.cookies) send.cookies.set(name, value);
  const client = createClient(baseUrl, send);
  const save = () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ url: baseUrl, cookies: [...send.cookies] }), { mode: 0o600 });
  };
  return { client, save, hasRefreshToken: () => send.cookies.has('refreshToken') };
};

type Session = ReturnType<typeof openSession>;

/** Calls once more with new tokens when the access token has expired. */
export const withRefresh = async <T>(
  { client, save, hasRefreshToken }: Session,
  call: (client: Client) => Promise<T>,
): Promise<T> => {
  try {
    return await call(client);
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.status !== 401 || !hasRefreshToken()) throw error;
    await client.auth.refresh();
    save();
    return call(client);
  }
};
