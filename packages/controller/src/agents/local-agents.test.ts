import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestController, type TestController } from '../testing/controller.ts';

const secrets = {
  RUSHHOUR_ADMIN_PASSWORD: 'a-password-agents-must-not-see',
  RUSHHOUR_SECRET_KEY: 'a-key-agents-must-not-see',
  DATABASE_URL: 'postgres://user:password@host/database',
  S3_URL: 's3://key:secret@host/bucket',
  AWS_SECRET_ACCESS_KEY: 'a-cloud-key-agents-must-not-see',
};
const isRoot = process.getuid?.() === 0;

let controller: TestController;
let folder: string;
let pid: number;
const before = { ...process.env };
beforeAll(async () => {
  Object.assign(process.env, secrets);
  controller = await startTestController({ localAgents: 1 });
  folder = join(controller.config.dataDir, 'agents', 'local-client');
  const { client } = await controller.signIn();
  const isOnline = async () => (await client.agents.all()).data.some(({ status }) => status === 1);
  await vi.waitUntil(isOnline, { timeout: 60_000, interval: 100 });
  pid = Number(readFileSync(join(folder, 'agent.pid'), 'utf8'));
});
afterAll(async () => {
  process.env = before;
  await controller.close();
});

describe('a local agent', () => {
  it('gets only the listed variables', () => {
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .flatMap((variable) => variable.split('=')[0] || []);
    const listed = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'NODE_COMPILE_CACHE', 'RUSHHOUR_AGENT_LOG_LEVEL'];
    expect(names).toContain('RUSHHOUR_JOIN_TOKEN');
    expect(names.filter((name) => ![...listed, 'RUSHHOUR_JOIN_TOKEN'].includes(name))).toEqual([]);
  });

  it.runIf(isRoot)('of a controller that is root is another user with few capabilities', () => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const ids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number) ?? [];
    expect(ids).toHaveLength(4);
    expect(ids).not.toContain(0);
    const bit = (name: string, at: number) =>
      ((BigInt(`0x${new RegExp(`^${name}:\\s*(\\w+)$`, 'm').exec(status)?.[1]}`) >> BigInt(at)) & 1n) === 1n;
    const [netRaw, netAdmin, dacOverride, setuid, sysAdmin, sysPtrace] = [13, 12, 1, 7, 21, 19];
    for (const kept of [netRaw, netAdmin]) expect(bit('CapEff', kept)).toBe(bit('CapBnd', kept));
    for (const lost of [dacOverride, setuid, sysAdmin, sysPtrace]) expect(bit('CapBnd', lost)).toBe(false);
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
  });

  it.runIf(isRoot)('owns its folder and passes through the data folder without reading the rest of it', () => {
    const { dataDir } = controller.config;
    const { uid, gid } = statSync(folder);
    expect(uid).not.toBe(0);
    expect(statSync(dataDir).mode & 0o777).toBe(0o710);
    const readable = readdirSync(dataDir)
      .filter((name) => name !== 'agents')
      .filter((name) => {
        const stats = statSync(join(dataDir, name));
        return (stats.mode & (stats.gid === gid ? 0o077 : 0o007)) !== 0;
      });
    expect(readable).toEqual([]);
  });
});
