import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endProcessesOf } from '../../packages/agent/src/testing/agent-process.ts';
import { type AgentProcess, httpTask, metricOf, runToEnd, type System, startSystem, until } from './system.ts';

const packer = fileURLToPath(new URL('../../packages/agent/src/upgrade/pack-agent.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rushhour-upgrade-'));
const inFolder = (name: string) => join(folder, name);
const pack = (...args: string[]) => execFileSync(process.execPath, [packer, ...args], { encoding: 'utf8' }).trim();

let system: System;
let agent: AgentProcess;
beforeAll(async () => {
  const key = pack('key', inFolder('key.pem'));
  system = await startSystem({}, { RUSHHOUR_PACKAGE_KEYS: key });
  agent = await system.addAgent('upgraded');
});
afterAll(async () => {
  await system.close();
  await endProcessesOf(agent.dataDir);
  rmSync(folder, { recursive: true, force: true });
});

/** A package of these sources under another version, signed with a key, as an administrator uploads it. */
const upload = async (version: string, keyFile: string) => {
  const out = inFolder(`rushhour-agent-${version}.tgz`);
  pack('pack', '--key', inFolder(keyFile), '--version', version, '--out', out);
  const file = new Blob([readFileSync(out)]);
  const fields = { category: 'archive' as const };
  await system.client.files.create({ upload: { fields, file, filename: `rushhour-agent-${version}.tgz` } });
};
const upgrade = (version: string) =>
  system.client.agents.actions({ body: { array: [agent.id], action: 'upgrade', params: { version } } });
const found = async () => (await system.client.agents.get({ params: { id: agent.id } })).data;

describe("an upgrade with an administrator's key", () => {
  it('replaces the program of an agent that enrolled with it, and the new one runs tests', async () => {
    await upload('9.8.7', 'key.pem');
    expect((await upgrade('9.8.7')).data.results).toEqual([{ id: agent.id, ok: true }]);
    await until('the agent to be back as the new version', async () => {
      const { status, version } = await found();
      return status === 1 && version === '9.8.7';
    });
    const { result } = await runToEnd(
      system.client,
      httpTask(agent, agent, { duration: { mode: 'time', seconds: 2 } }),
    );
    expect(metricOf(result, 'client', 'http.requests')?.['sum']).toBeGreaterThan(0);
  });

  it('is refused with any other key', async () => {
    pack('key', inFolder('other.pem'));
    await upload('9.9.9', 'other.pem');
    await expect(upgrade('9.9.9')).rejects.toMatchObject({
      ...{ status: 400, data: { issues: [{ path: '/params/version', code: 'UNTRUSTED_KEY' }] } },
    });
  });
});
