import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { createDatabase } from '../testing/postgres.ts';
import { confirmSteps } from './approvals-confirm.ts';

const child = fileURLToPath(new URL('./testing/confirm-child.ts', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-crash-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

type Facts = Record<string, unknown>;

/** Runs a controller in a process of its own; answers what it said and how it ended. */
const run = (order: object): Promise<{ facts: Facts[]; signal: string | null; errors: string }> =>
  new Promise((resolve) => {
    const started = spawn(process.execPath, [child, JSON.stringify(order)], {
      env: { ...process.env, NODE_COMPILE_CACHE: join(dataDir, 'compile-cache') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      started[name].setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text;
      });
    }
    started.on('close', (_, signal) => {
      const facts = texts.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Facts);
      resolve({ facts, signal, errors: texts.stderr });
    });
  });

it('a process killed anywhere in a confirmation leaves a token used if and only if the run exists', async () => {
  const databaseUrl = await createDatabase();
  const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };
  const config = { host: '127.0.0.1', port: 0, logLevel: 'fatal', dataDir, admin, ...(databaseUrl && { databaseUrl }) };
  const { facts, errors } = await run({ config });
  const [asked] = facts;
  expect(asked, errors).toMatchObject({ token: expect.stringMatching(/^rh_aat_/) });
  for (const killAt of confirmSteps) {
    const { facts: seen, signal } = await run({ config, ...asked, killAt });
    expect({ killAt, signal, seen }).toEqual({ killAt, signal: 'SIGKILL', seen: [{ state: 'pending', runs: 0 }] });
  }
  const last = await run({ config, ...asked });
  expect(last.facts).toEqual([
    { state: 'used', runs: 1 },
    { outcome: 'TOKEN_ALREADY_USED', runs: 1 },
  ]);
}, 240_000);
