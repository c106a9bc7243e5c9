import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookieJar, createClient } from '@rushhour/client';
import { aiScopes, api, type Collection, defaultSettings, type Route } from '@rushhour/contract';
import fc from 'fast-check';
import { newKey } from '../../packages/controller/src/ai/keys/keys.ts';
import { type Controller, startController } from '../../packages/controller/src/controller.ts';
import { openSession } from '../../packages/controller/src/people/sessions.ts';
import { aiKeys } from '../../packages/controller/src/store/ai/ai-keys.ts';
import { findByEmail, users } from '../../packages/controller/src/store/people/users.ts';
import { createJudge } from './judge.ts';
import { RawClient } from './raw-client.ts';
import { type Attempt, attempts, bytesOf } from './request.ts';

export const operations = Object.entries(api as Record<string, Collection>).flatMap(([name, { routes }]) =>
  Object.entries(routes).map(([operation, route]) => ({ id: `${name}.${operation}`, route })),
);

export interface Finding {
  operation: string;
  seed: number;
  problem: string;
  attempt: string;
}

const origin = { userId: 1, address: '127.0.0.1', requestId: 'fuzz', operation: 'fuzz' };
const admin = { email: 'fuzz@example.test', password: 'seven-Odd-Pebbles-roll' };

/** People of the installation, by what they may do. Anonymous requests have no credential. */
const identities = ['administrator', 'operator', 'viewer', 'anonymous'] as const;
type Identity = (typeof identities)[number];

/** Most requests are those of the administrator: they reach the most code. */
const identityFor = (index: number): Identity => identities[index % 10 < 7 ? 0 : (index % 10) - 6] as Identity;

const createUsers = async ({ url, store }: Controller): Promise<Record<Identity, number>> => {
  const client = createClient(url, cookieJar());
  await client.auth.login({ body: admin });
  const { data: groups } = await client.groups.list({ query: { count: 100, offset: 0 } });
  const idOf = async (name: string) => {
    const groupID = groups.find((group) => group.name.startsWith(name))?.id ?? 0;
    const { email } = await client.users.create({
      body: { email: `${name.toLowerCase()}@fuzz.test`, realName: name, groupID },
    });
    return (await findByEmail(store.read, email))?.id ?? 0;
  };
  return { administrator: 1, operator: await idOf('Operator'), viewer: await idOf('Viewer'), anonymous: 0 };
};

/** Restores access after a lock-out and returns the header for it: a session or an AI key. */
const reviver =
  ({ store, settings }: Controller, ids: Record<Identity, number>) =>
  async ({ access }: Pick<Route, 'access'>, identity: Identity = 'administrator') => {
    if (identity === 'anonymous') return 'X-Nobody: 1';
    const userId = ids[identity];
    const { accessToken, refreshToken, aiKey } = await store.change(origin, async (tx) => {
      const limits = { ...defaultSettings.limits, rate: 100_000_000 };
      await settings.update(tx, { ...defaultSettings, limits });
      await users.update(tx, userId, { isActive: true, isRequiredToSetPassword: false, agreementAccepted: true });
      await tx.run({ name: '', sql: 'delete from throttles' }, []);
      const { publicId, secretHash, text } = newKey();
      const keyLimits = { requestsPerMin: 100_000, writesPerMin: 100_000 };
      await aiKeys.insert(tx, {
        ...{ publicId, secretHash, limits: keyLimits, name: publicId, scopes: [...aiScopes], isActive: true },
        ...{ policy: {}, policyVersion: 1, constraints: {}, ipAllowlist: [], lastUsedIp: '' },
        expiresAt: '2999-01-01T00:00:00.000Z',
      });
      return {
        ...(await openSession(tx, userId, { address: '127.0.0.1', client: 'fuzz' }, defaultSettings.auth)),
        aiKey: text,
      };
    });
    return access === 'aiKey'
      ? `X-API-Key: ${aiKey}`
      : `Cookie: accessToken=${accessToken}; refreshToken=${refreshToken}`;
  };

/** A controller for the harness, repaired after every request that locks the harness out. */
export const startTarget = async (databaseUrl?: string) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-fuzz-'));
  const more = databaseUrl === undefined ? {} : { databaseUrl };
  const controller = await startController({ host: '127.0.0.1', port: 0, logLevel: 'fatal', dataDir, admin, ...more });
  const clients = new Set<RawClient>();
  return {
    url: controller.url,
    connect: () => {
      const client = new RawClient('127.0.0.1', Number(new URL(controller.url).port));
      clients.add(client);
      return client;
    },
    revive: reviver(controller, await createUsers(controller)),
    close: async () => {
      for (const client of clients) client.close();
      await controller.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

export type Target = Awaited<ReturnType<typeof startTarget>>;

export interface Campaign {
  readonly count: number;
  readonly seed: number;
  /** A slower answer is a finding. */
  readonly maxAnswerMs: number;
}

const lockedOut = new Set([401, 403, 429]);

/** Sends requests of every kind and identity to one operation and returns violations, with the seed that repeats them. */
export const runCampaign = async (
  target: Target,
  { id, route }: { id: string; route: Route },
  { count, seed, maxAnswerMs }: Campaign,
) => {
  const judge = createJudge(route);
  const client = target.connect();
  const findings: Finding[] = [];
  const statuses = new Map<number, number>();
  const credentials = new Map<Identity, string>();
  for (const [index, attempt] of fc.sample(attempts(route), { numRuns: count, seed }).entries()) {
    const identity = identityFor(index);
    const credential = credentials.get(identity) ?? (await target.revive(route, identity));
    credentials.set(identity, credential);
    const { status, problem } = await tryOne(client, { attempt, credential, maxAnswerMs }, judge);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (problem) findings.push({ operation: id, seed, problem, attempt: `${identity} ${describe(attempt)}` });
    if (lockedOut.has(status) || id === 'settings.update') credentials.delete(identity);
  }
  client.close();
  return { findings, statuses };
};

interface Trial {
  readonly attempt: Attempt;
  readonly credential: string;
  readonly maxAnswerMs: number;
}

const tryOne = async (
  client: RawClient,
  { attempt, credential, maxAnswerMs }: Trial,
  judge: ReturnType<typeof createJudge>,
): Promise<{ status: number; problem: string | undefined }> => {
  const startedAt = performance.now();
  try {
    const answer = await client.send(bytesOf(attempt, credential), attempt.method === 'HEAD');
    const tookMs = performance.now() - startedAt;
    const slow = tookMs > maxAnswerMs ? `answered after ${Math.round(tookMs)} ms` : undefined;
    return { status: answer.status, problem: judge(answer, attempt) ?? slow };
  } catch (error) {
    return { status: 0, problem: (error as Error).message };
  }
};

/** Runs the campaigns of all operations, several at once. */
export const runCampaigns = async (
  target: Target,
  concurrency: number,
  campaignOf: (operation: (typeof operations)[number]) => Campaign,
) => {
  const waiting = [...operations];
  const findings: Finding[] = [];
  const statuses = new Map<number, number>();
  const work = async () => {
    for (let operation = waiting.shift(); operation !== undefined; operation = waiting.shift()) {
      const result = await runCampaign(target, operation, campaignOf(operation));
      findings.push(...result.findings);
      for (const [status, count] of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { findings, statuses };
};

const describe = ({ kind, method, target, headers, body }: Attempt) =>
  `${kind}: ${method} ${target.slice(0, 200)} ${headers.map((line) => line.slice(0, 80)).join(' | ')} ${body?.toString().slice(0, 300) ?? ''}`;
