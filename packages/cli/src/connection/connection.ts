import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Client, clientOf, RequestFailed } from '@rushhour/client/routes';
import { UsageError } from '../exit-codes.ts';
import type { Digest } from '../routes/route-digest.ts';
import { configFolder } from './folders.ts';
import { httpSend, withCookies, withToken } from './http-send.ts';
import { explaining } from './unreachable.ts';

/** Options of every command that talks to the controller. */
export interface ConnectionOptions {
  readonly url?: string;
  readonly token?: string;
  readonly caCert?: string;
}

interface Saved {
  readonly url: string;
  readonly cookies: readonly (readonly [string, string])[];
  readonly caCert?: string;
}

const file = () => join(configFolder(), 'session.json');

const load = (): Saved | undefined => {
  try {
    return JSON.parse(readFileSync(file(), 'utf8')) as Saved;
  } catch {
    return undefined;
  }
};

/** The address without a path or trailing slash; a name alone is taken as HTTP. */
const addressOf = (text: string) => {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (url === null)
    throw new UsageError(`"${text}" is no address of a controller, such as https://lab.example.test:8080`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
};

const trust = async (caCert: string) => {
  // Loaded only when needed: it takes a tenth of a call.
  const { getCACertificates, setDefaultCACertificates } = await import('node:tls');
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(caCert, 'utf8')]);
  } catch (error) {
    throw new UsageError(`--ca-cert ${caCert}: ${(error as Error).message}`);
  }
};

export interface Connection {
  readonly url: string;
  readonly client: Client;
  /** Keeps the session for later commands. */
  save(): void;
  /** Whether an expired session can be renewed. */
  canRefresh(): boolean;
}

/**
 * A client for the controller of `--url`, `RUSHHOUR_URL` or the last `login`, with the token of `--token` or
 * `RUSHHOUR_TOKEN`, else with the session of `login`.
 */
export const connect = async (digest: Digest, options: ConnectionOptions): Promise<Connection> => {
  const saved = load();
  const given = options.url ?? (process.env['RUSHHOUR_URL'] || undefined) ?? saved?.url;
  const url = addressOf(given ?? 'http://127.0.0.1:8080');
  const isSaved = saved?.url === url;
  const caCert =
    options.caCert ?? (process.env['RUSHHOUR_CA_CERT'] || undefined) ?? (isSaved ? saved.caCert : undefined);
  if (caCert !== undefined) await trust(caCert);
  const send = explaining(url, httpSend);
  // An empty one means the session, whatever the environment says.
  const token = (options.token ?? process.env['RUSHHOUR_TOKEN']) || undefined;
  if (token !== undefined) {
    return {
      url,
      client: clientOf(digest, url, withToken(token, send)),
      save: () => {},
      canRefresh: () => false,
    };
  }
  const cookies = new Map(isSaved ? saved.cookies : []);
  const save = () => {
    const session: Saved = { url, cookies: [...cookies], ...(caCert && { caCert: resolve(caCert) }) };
    mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
    writeFileSync(file(), JSON.stringify(session), { mode: 0o600 });
  };
  return {
    url,
    client: clientOf(digest, url, withCookies(cookies, send)),
    save,
    canRefresh: () => cookies.has('refreshToken'),
  };
};

/** Calls once more with a renewed session when it has expired. */
export const withRefresh = async <T>(
  { client, save, canRefresh }: Connection,
  call: (client: Client) => Promise<T>,
): Promise<T> => {
  try {
    return await call(client);
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.status !== 401 || !canRefresh()) throw error;
    await client.auth.refresh();
    save();
    return call(client);
  }
};

/** A client whose every call renews an expired session. */
export const refreshingClient = (connection: Connection): Client => {
  const wrap = (tag: string, operations: object) =>
    Object.fromEntries(
      Object.keys(operations).map((name) => [
        name,
        (...args: unknown[]) =>
          withRefresh(connection, (client) => {
            const found = client[tag as keyof Client] as unknown as Record<
              string,
              (...a: unknown[]) => Promise<unknown>
            >;
            return (found[name] as (...a: unknown[]) => Promise<unknown>)(...args);
          }),
      ]),
    );
  return Object.fromEntries(
    Object.entries(connection.client).map(([tag, operations]) => [tag, wrap(tag, operations)]),
  ) as unknown as Client;
};
