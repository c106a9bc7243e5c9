import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { verifyAudit } from '../../packages/controller/src/store/engine/audit.ts';
import { openStore } from '../../packages/controller/src/store/store.ts';
import { spawnController } from './spawn-controller.ts';

const admin = { email: 'crash@example.test', password: 'five-Grey-Otters-swim' };
const writers = 8;

interface Acknowledged {
  /** Acknowledged projects, with their last acknowledged description. */
  projects: Map<number, string>;
  deleted: Set<number>;
}

/** Writes until the controller dies, and records only acknowledged writes. */
const write = async (client: Client, round: number, writer: number, known: Acknowledged) => {
  try {
    for (let n = 0; ; n += 1) {
      const description = `round ${round} writer ${writer} step ${n}`;
      const { data: id } = await client.projects.create({ body: { name: `${round}/${writer}/${n}`, description } });
      known.projects.set(id, description);
      if (n % 3 === 1) {
        // Until the answer arrives, either text may be stored.
        known.projects.delete(id);
        await client.projects.update({ body: { ID: id, description: `${description} changed` } });
        known.projects.set(id, `${description} changed`);
      }
      if (n % 5 === 2) {
        known.projects.delete(id);
        await client.projects.removeMany({ body: { array: [id] } });
        known.deleted.add(id);
      }
    }
  } catch {
    // The controller was killed.
  }
};

const signIn = async (url: string) => {
  const client = createClient(url, cookieJar());
  await client.auth.login({ body: admin });
  return client;
};

/** Counts acknowledged writes that are missing or differ. */
const countLost = async (client: Client, known: Acknowledged) => {
  const stored = new Map<number, string>();
  for (let page = 1; ; page += 1) {
    const { data, cursor } = await client.projects.list({ query: { count: 100, page, key: 'ID', order: 'asc' } });
    for (const { ID, description } of data) stored.set(ID, description);
    if (page >= cursor.totalPages) break;
  }
  const lost = [...known.projects].filter(([id, description]) => stored.get(id) !== description);
  const undead = [...known.deleted].filter((id) => stored.has(id));
  return lost.length + undead.length;
};

/** Kills the controller repeatedly during concurrent writes and checks that no acknowledged write is lost. */
export const runCrashes = async (rounds: number, databaseUrl?: string) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-crash-'));
  const env = {
    RUSHHOUR_DATA_DIR: dataDir,
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  };
  const known: Acknowledged = { projects: new Map(), deleted: new Set() };
  let lost = 0;
  for (let round = 0; round < rounds; round += 1) {
    const controller = await spawnController(env);
    const client = await signIn(controller.url);
    if (round === 0) await client.settings.update({ body: { limits: { rate: 100_000_000 } } });
    lost += await countLost(client, known);
    const work = Promise.all(Array.from({ length: writers }, (_, writer) => write(client, round, writer, known)));
    await sleep(100 + Math.random() * 300);
    await controller.kill('SIGKILL');
    await work;
  }
  const last = await spawnController(env);
  lost += await countLost(await signIn(last.url), known);
  await last.kill('SIGTERM');
  const store = await openStore({ dataDir, databaseUrl });
  const audit = await verifyAudit(store.read);
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
  return { acknowledged: known.projects.size + known.deleted.size, lost, audit };
};
