import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, cookieJar, createClient, type Send } from '@rushhour/client';
import type { Config } from '../config.ts';
import { startController } from '../controller.ts';
import { createDatabase } from './postgres.ts';

export const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };

/** A client with a session of its own, and the `fetch` that carries it. */
export interface SignedIn {
  client: Client;
  send: Send;
}

/** Starts a real controller on a free port, on the engine this test run is for. Call it in `beforeAll`. */
export const startTestController = async (overrides: Partial<Config> = {}) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-test-'));
  const databaseUrl = await createDatabase();
  const given = { ...(databaseUrl && { databaseUrl }), ...overrides };
  const config: Config = { host: '127.0.0.1', port: 0, logLevel: 'fatal', dataDir, admin, ...given };
  const controller = await startController(config);

  const visitor = (url = controller.url): SignedIn => {
    const send = cookieJar();
    return { send, client: createClient(url, send) };
  };
  const signInAt = async (url: string, { email, password }: { email: string; password: string }): Promise<SignedIn> => {
    const visit = visitor(url);
    await visit.client.auth.login({ body: { email, password } });
    return visit;
  };
  const signIn = (credentials: { email: string; password: string } = admin) => signInAt(controller.url, credentials);
  /** A user in a new group with exactly these permissions, signed in with a password of their own. */
  const signInWith = async (administrator: SignedIn, permissions: readonly number[], name = `user${counter()}`) => {
    const { data: groupID } = await administrator.client.groups.create({
      body: { name: `group of ${name}`, permissions: permissions.map((value) => ({ value })) },
    });
    const credentials = await administrator.client.users.create({
      body: { email: `${name}@example.test`, realName: name, groupID },
    });
    const signedIn = await signIn(credentials);
    const newPassword = `${name}-keeps-Nine-lanterns`;
    await signedIn.client.auth.password({ body: { currentPassword: credentials.password, newPassword } });
    const { data } = await signedIn.client.users.me();
    return { ...signedIn, id: data.id, groupID, email: credentials.email, password: newPassword };
  };

  return {
    ...controller,
    config,
    visitor,
    signIn,
    /** Signs in at another controller of the same installation. */
    signInAt,
    signInWith,
    /** Stops it and leaves its data, so that another may be started on `config`. */
    stop: controller.close,
    close: async () => {
      await controller.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

export type TestController = Awaited<ReturnType<typeof startTestController>>;

let count = 0;
const counter = () => {
  count += 1;
  return count;
};
