import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cookieJar, createClient } from '@rushhour/client';
import { expect, it } from 'vitest';
import { admin } from '../../testing/controller.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { generateCertificate } from './issuing/generate.ts';
import { spilledIn } from './testing/spilled-key.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));

/** A controller that logs all it can, as a process of its own: its log goes to its standard error. */
const startLogging = async (dataDir: string) => {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: (await createDatabase()) ?? '',
      RUSHHOUR_PORT: '0',
      RUSHHOUR_LOG_LEVEL: 'trace',
      RUSHHOUR_DATA_DIR: dataDir,
      RUSHHOUR_ADMIN_EMAIL: admin.email,
      RUSHHOUR_ADMIN_PASSWORD: admin.password,
    },
  });
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    const onText = (chunk: Buffer) => {
      output += chunk.toString();
      const ready = /ready at (\S+)/.exec(output)?.[1];
      if (ready) resolve(ready);
    };
    child.stdout.on('data', onText);
    child.stderr.on('data', onText);
    void ended.then(() => reject(new Error(`the controller ended: ${output}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    return output;
  };
  return { url, stop };
};

it('private keys and passphrases are not in the log, whatever is asked and whatever goes wrong', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-test-'));
  const { url, stop } = await startLogging(dataDir);
  const { auth, certificates } = createClient(url, cookieJar());
  const valid = await generateCertificate({ kind: 'self-signed', subject: 'CN=logged.test' });
  const other = await generateCertificate({ kind: 'self-signed', subject: 'CN=other.test' });
  let made = '';
  let log = '';
  try {
    await auth.login({ body: admin });
    const { data: id } = await certificates.create({ body: { name: 'Logged', ...valid } });
    const { data } = await certificates.create({ body: { name: 'Made', generate: { kind: 'ca', subject: 'CN=x' } } });
    made = (await certificates.get({ params: { id: data }, query: { include: 'private' } })).data.private;
    const passphrase = 'wrong-horse-battery';
    const outcomes = await Promise.allSettled([
      certificates.create({ body: { name: 'Logged', ...valid } }),
      certificates.create({ body: { name: 'Mismatch', public: valid.public, private: other.private, passphrase } }),
      certificates.create({ body: { name: 'Cut', ...valid, private: valid.private.slice(0, 150), passphrase } }),
      certificates.update({ body: { id, private: other.private } }),
      certificates.update({ body: { id, private: valid.private, colour: 'red' } as never }),
    ]);
    const refusal = { status: 'rejected', reason: expect.objectContaining({ status: 400 }) };
    expect(outcomes).toEqual(outcomes.map(() => refusal));
  } finally {
    log = await stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  // There is a log to look into.
  expect(log).toContain('"level":"info"');
  for (const key of [valid.private, other.private, made]) expect(spilledIn(key, { log: Buffer.from(log) })).toEqual([]);
  expect(log).not.toContain('horse');
});
