import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cookieJar, createClient, type Send } from '@rushhour/client';
import { verifyAudit } from '../../packages/controller/src/store/engine/audit.ts';
import { openStore } from '../../packages/controller/src/store/store.ts';
import {
  agentSubject,
  approvalSubject,
  fileSubject,
  type Life,
  projectSubject,
  runSubject,
  type Subject,
  scheduleSubject,
} from './crash-subjects.ts';
import { type Spawned, spawnController } from './spawn-controller.ts';

const admin = { email: 'crash@example.test', password: 'five-Grey-Otters-swim' };

const createSubjects = () => {
  const agents = agentSubject();
  return {
    ...{ projects: projectSubject(), files: fileSubject(), agents, runs: runSubject(agents.newestId) },
    ...{ schedules: scheduleSubject(agents.newestId), approvals: approvalSubject(agents.newestId) },
  };
};

/** A session, and a key for AI clients: both outlive the controller that gave them. */
interface Access {
  readonly send: Send;
  readonly aiKey: string;
}

/** Signs in, and makes sure that nothing of the harness is refused for being too much. */
const enter = async (url: string, name: string): Promise<Access> => {
  const send = cookieJar();
  const client = createClient(url, send);
  await client.auth.login({ body: admin });
  await client.settings.update({
    body: { limits: { rate: 100_000_000 }, tasks: { allowedTargets: ['127.0.0.0/8'] } } as never,
  });
  const { data } = await client.aiAdmin.createKey({
    body: {
      name,
      scopes: ['tasks:read', 'tasks:delete'],
      limits: { requestsPerMin: 10_000, writesPerMin: 10_000, approvalsPerHour: 100_000, pendingApprovals: 1000 },
    } as never,
  });
  return { send, aiKey: data.secret };
};

/** Only what happens before the kill counts; a refusal while the controller is alive is a fault of the harness. */
const writeUntilKilled = async (subject: Subject, life: Life, isAlive: () => boolean, onWritten: () => void) => {
  for (let step = 0; ; step += 1) {
    try {
      await subject.write(life, step);
      onWritten();
    } catch (error) {
      if (isAlive()) throw error;
      return;
    }
  }
};

const countLost = async (subjects: Record<string, Subject>, life: Life, what: 'new' | 'all') => {
  const lost: string[] = [];
  for (const [name, subject] of Object.entries(subjects)) {
    const count = await subject.countLost(life, what);
    if (count > 0) lost.push(`${count} ${name} after ${life.name}`);
  }
  return lost;
};

/** Signing in hashes a password; a session is used for as many lives of the controller. */
const livesPerSession = 20;

/** The next life of the controller for whom it knows already, or for a new session. */
const createLives = () => {
  let access: Access | undefined;
  let lives = 0;
  return async (url: string, name: string): Promise<Life> => {
    if (access === undefined || lives % livesPerSession === 0) access = await enter(url, name);
    lives += 1;
    return { url, name, client: createClient(url, access.send), aiKey: access.aiKey };
  };
};

/** Everything is written at once until the controller is killed, at no particular moment. */
const liveAndDie = async (subjects: readonly Subject[], controller: Spawned, life: Life) => {
  let isAlive = true;
  const written = new Set<Subject>();
  const work = subjects.map((subject) =>
    writeUntilKilled(
      subject,
      life,
      () => isAlive,
      () => written.add(subject),
    ),
  );
  await Promise.race([sleep(Math.random() * 1000), ...work]);
  // However slow the machine is: every kill comes after something of every kind was acknowledged in this life.
  while (written.size < subjects.length || subjects.some(({ count }) => count === 0)) {
    await Promise.race([sleep(20), ...work]);
  }
  isAlive = false;
  await controller.kill('SIGKILL');
  await Promise.all(work);
};

/**
 * Kills the controller repeatedly while files, agents, runs, schedules, approvals and projects are written, and checks
 * after each restart that no write acknowledged in the life before is lost, and at the end the newest of all, and that
 * the audit chain holds. Ends early when
 * `goesOn`, asked before each kill with what was lost so far, says so.
 */
export const runCrashes = async (
  rounds: number,
  databaseUrl?: string,
  goesOn = (_kills: number, _lost: readonly string[]) => true,
) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-crash-'));
  const env = {
    RUSHHOUR_DATA_DIR: dataDir,
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  };
  const subjects = createSubjects();
  const all: readonly Subject[] = Object.values(subjects);
  const lost: string[] = [];
  const nextLife = createLives();
  // A process that ends by itself leaves its compiled code to the next one; those that are killed do not.
  await (await spawnController(env)).kill('SIGTERM');
  let round = 0;
  for (; round < rounds && goesOn(round, lost); round += 1) {
    const controller = await spawnController(env);
    const life = await nextLife(controller.url, `kill ${round}`);
    lost.push(...(await countLost(subjects, life, 'new')));
    await liveAndDie(all, controller, life);
  }
  const last = await spawnController(env);
  lost.push(...(await countLost(subjects, await nextLife(last.url, 'the last kill'), 'all')));
  await last.kill('SIGTERM');
  const store = await openStore({ dataDir, databaseUrl });
  const audit = await verifyAudit(store.read, store.secrets);
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
  const acknowledged = Object.fromEntries(Object.entries(subjects).map(([name, { count }]) => [name, count]));
  return { kills: round, acknowledged, lost, audit };
};
