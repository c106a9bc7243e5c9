import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookieJar, createClient } from '@rushhour/client';
import { expect, it, onTestFinished } from 'vitest';
import { commandLine } from '../cli/command-line.ts';
import { spawnController } from '../process/spawn-controller.ts';
import { documents } from './documents.ts';
import { installProgram, runPage } from './page-commands.ts';

it('the commands of the quick start run with the two agents of a controller', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-quick-start-'));
  const admin = { email: 'admin@rushhour.local', password: 'quiet-Harbour-27-lamps' };
  const controller = await spawnController({
    ...{ RUSHHOUR_DATA_DIR: dataDir, RUSHHOUR_LOCAL_AGENTS: '2' },
    ...{ RUSHHOUR_ADMIN_EMAIL: admin.email, RUSHHOUR_ADMIN_PASSWORD: admin.password },
  });
  const cli = commandLine({ RUSHHOUR_URL: controller.url });
  onTestFinished(async () => {
    await controller.kill('SIGTERM');
    cli.remove();
    rmSync(dataDir, { recursive: true, force: true });
  });
  installProgram(cli);
  const client = createClient(controller.url, cookieJar());
  await client.auth.login({ body: admin });
  const online = async () => (await client.agents.all()).data.filter(({ status }) => status === 1).length;
  await expect.poll(online, { timeout: 180_000 }).toBe(2);
  const page = documents.find(({ path }) => path === 'docs/quick-start.md');
  const password = { RUSHHOUR_PASSWORD: admin.password };
  const { code, output } = await runPage(cli, page as never, /^npm (ci|start)/, password);
  expect([code, output.slice(-3000)]).toEqual([0, expect.stringContaining('HTTP requests per second')]);
});
