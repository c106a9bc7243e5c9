import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aiScopes, api, type Collection, defaultSettings, type Route } from '@rushhour/contract';
import fc from 'fast-check';
import { newKey } from '../../packages/controller/src/ai/keys/keys.ts';
import { startController } from '../../packages/controller/src/controller.ts';
import { openSession } from '../../packages/controller/src/people/sessions.ts';
import { aiKeys } from '../../packages/controller/src/store/ai/ai-keys.ts';
import { users } from '../../packages/controller/src/store/people/users.ts';
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

/** A controller for the harness, repaired after every request that locks the harness out. */
export const startTarget = async (databaseUrl?: string) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-fuzz-'));
  const admin = { email: 'fuzz@example.test', password: 'seven-Odd-Pebbles-roll' };
  const controller = await startController({
    host: '127.0.0.1',
    port: 0,
    logLevel: 'fatal',
    dataDir,
    admin,
    ...(databaseUrl && { databaseUrl }),
  });
  const client = new RawClient('127.0.0.1', Number(new URL(controller.url).port));

  /** Restores access after a lock-out and returns the header for it: a session or an AI key. */
  const revive = async ({ access }: Pick<Route, 'access'>) => {
    const { accessToken, refreshToken, aiKey } = await controller.store.change(origin, async (tx) => {
      await controller.settings.update(tx, {
        ...defaultSettings,
        limits: { ...defaultSettings.limits, rate: 100_000_000 },
      });
      await users.update(tx, 1, { isActive: true, isRequiredToSetPassword: false, agreementAccepted: true });
      await tx.run({ name: '', sql: 'delete from throttles' }, []);
      const { publicId, secretHash, text } = newKey();
      const limits = { requestsPerMin: 100_000, writesPerMin: 100_000 };
      await aiKeys.insert(tx, {
        ...{ publicId, secretHash, limits, name: publicId, scopes: [...aiScopes], isActive: true, policyVersion: 1 },
        ...{ policy: {}, constraints: {}, ipAllowlist: [], lastUsedIp: '', expiresAt: '2999-01-01T00:00:00.000Z' },
      });
      return { ...(await openSession(tx, 1, '127.0.0.1', defaultSettings.auth)), aiKey: text };
    });
    return access === 'aiKey'
      ? `X-API-Key: ${aiKey}`
      : `Cookie: accessToken=${accessToken}; refreshToken=${refreshToken}`;
  };

  return {
    client,
    revive,
    close: async () => {
      client.close();
      await controller.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

export type Target = Awaited<ReturnType<typeof startTarget>>;

/** Sends requests of every kind to one operation and returns violations, with the seed that reproduces them. */
export const runCampaign = async (
  target: Target,
  { id, route }: { id: string; route: Route },
  count: number,
  seed: number,
) => {
  const judge = createJudge(route);
  const findings: Finding[] = [];
  const statuses = new Map<number, number>();
  let credential = await target.revive(route);
  for (const attempt of fc.sample(attempts(route), { numRuns: count, seed })) {
    const problem = await tryOne(target, attempt, credential, judge, statuses);
    if (problem) findings.push({ operation: id, seed, problem, attempt: describe(attempt) });
    const last = statuses.get(-1);
    if (last === 401 || last === 429 || last === 403 || id === 'settings.update')
      credential = await target.revive(route);
  }
  statuses.delete(-1);
  return { findings, statuses };
};

const tryOne = async (
  target: Target,
  attempt: Attempt,
  credential: string,
  judge: ReturnType<typeof createJudge>,
  statuses: Map<number, number>,
) => {
  try {
    const answer = await target.client.send(bytesOf(attempt, credential), attempt.method === 'HEAD');
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1).set(-1, answer.status);
    return judge(answer, attempt);
  } catch (error) {
    return (error as Error).message;
  }
};

const describe = ({ kind, method, target, headers, body }: Attempt) =>
  `${kind}: ${method} ${target.slice(0, 200)} ${headers.map((line) => line.slice(0, 80)).join(' | ')} ${body?.toString().slice(0, 300) ?? ''}`;
