import { generateKeyPairSync, hash, type KeyObject, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { initialGroups, permissions } from '@rushhour/contract';
import { publicKeyText, signPackage } from '@rushhour/protocol';
import { pack } from 'tar-stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectTestAgent, enrolTestAgent, type TestAgent, testFacts } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';
import { endRun, insertActiveRun } from './testing/active-run.ts';

const trusted = generateKeyPairSync('ed25519');
let controller: TestController;
let administrator: SignedIn;
let agent: TestAgent;
let away: TestAgent;
beforeAll(async () => {
  controller = await startTestController({ packageKeys: [publicKeyText(trusted.publicKey)] });
  administrator = await controller.signIn();
});
beforeEach(async () => {
  agent = await enrolTestAgent(administrator.client, { url: controller.url });
  away = await enrolTestAgent(administrator.client, { url: controller.url });
  await away.close();
});
afterEach(() => agent.close());
afterAll(() => controller.close());

type Action = 'ping' | 'restart' | 'rescan' | 'upgrade' | 'collectLogs';
const act = async (action: Action, more: object = {}) =>
  (
    await administrator.client.agents.actions({
      body: { array: [agent.agentId, away.agentId], action, ...more },
    })
  ).data;
const notified = async (kind: string) =>
  (await administrator.client.notifications.list({ query: {} })).data.filter((one) => one.kind === kind);
const unreachable = () => ({ id: away.agentId, ok: false, code: 'UNREACHABLE', error: 'the agent is not connected' });

describe('an action on agents', () => {
  it('pings each and tells the round trip', async () => {
    const { results } = await act('ping');
    expect(results).toEqual([{ id: agent.agentId, ok: true, rttMs: expect.any(Number) }, unreachable()]);
    expect(results[0]?.rttMs).toBeGreaterThan(0);
  });

  it('makes them look at their machines again', async () => {
    agent.onQuestion(() => testFacts({ hostname: 'looked again' }));
    expect((await act('rescan')).results[0]).toEqual({ id: agent.agentId, ok: true });
    const { data } = await administrator.client.agents.get({ params: { id: agent.agentId } });
    expect(data.hostname).toBe('looked again');
  });

  it('tells what the agent has against it', async () => {
    agent.onQuestion(() => {
      throw new Error('in the middle of something');
    });
    expect((await act('restart')).results[0]).toEqual({
      ...{ id: agent.agentId, ok: false, code: 'REFUSED', error: 'in the middle of something' },
    });
  });

  it('does not restart or upgrade a busy agent unless forced', async () => {
    const { runID } = await insertActiveRun(controller.store, [agent.agentId]);
    await expect(act('restart')).rejects.toMatchObject({
      status: 409,
      data: { code: 'BUSY', agents: [agent.agentId] },
    });
    expect((await act('restart', { force: true })).results[0]?.ok).toBe(true);
    expect((await act('ping')).results[0]?.ok).toBe(true);
    await endRun(controller.store, runID);
  });

  it('needs agents that exist', async () => {
    const body = { array: [agent.agentId, 9999], action: 'ping' as const };
    await expect(administrator.client.agents.actions({ body })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('is done once for each idempotency key', async () => {
    let pings = 0;
    agent.onQuestion(() => {
      pings += 1;
    });
    const send = () =>
      administrator.send(`${controller.url}/v1/agents/actions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'ping-once' },
        body: JSON.stringify({ array: [agent.agentId], action: 'ping' }),
      });
    const [first, second] = [await (await send()).json(), await (await send()).json()];
    expect(second).toEqual(first);
    expect(pings).toBe(1);
  });
});

describe('collecting logs', () => {
  it('keeps what the agent has on disk as a file, and tells where', async () => {
    agent.onQuestion(() => [{ ts: 0, level: 'warn', source: 'main', message: 'started' }]);
    const { operationId, results } = await act('collectLogs');
    expect(operationId).not.toBe('');
    expect(results).toEqual([{ id: agent.agentId, ok: true }, unreachable()]);
    await expect.poll(() => notified('agent.logs')).toMatchObject([{ entity: { type: 'file' } }]);
    const [{ entity } = {}] = await notified('agent.logs');
    const file = await administrator.send(`${controller.url}/v1/files/${entity?.id}/download`);
    expect(await file.text()).toBe('1970-01-01T00:00:00.000Z warn  main: started\n');
  });
});

describe('an upgrade', () => {
  const upload = async (name: string, bytes: Buffer) => {
    const content = bytes.toString('base64');
    return (await administrator.client.files.create({ body: { name, category: 'archive', content } })).data;
  };
  const packed = async (manifest: object, key: KeyObject | null = trusted.privateKey) => {
    const tar = pack();
    tar.entry({ name: 'package/package.json' }, JSON.stringify(manifest));
    tar.entry({ name: 'package/src/main.ts' }, `// ${randomUUID()}`);
    tar.finalize();
    const archive = gzipSync(await buffer(tar));
    return key === null ? archive : Buffer.concat([archive, signPackage(hash('sha256', archive, 'hex'), key)]);
  };
  const agentPackage = (version: string, key?: KeyObject | null) => packed({ name: '@rushhour/agent', version }, key);

  it('needs a package', async () => {
    await expect(act('upgrade')).rejects.toMatchObject({ status: 400, data: { issues: [{ path: '/params' }] } });
    await expect(act('upgrade', { params: { fileId: 9999 } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(act('upgrade', { params: { version: '9.9.9' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/params/version', code: 'NO_PACKAGE' }] },
    });
  });

  it('needs a package that is one, of the version that is wanted', async () => {
    const other = await upload('other.tgz', await packed({ name: 'left-pad', version: '1.0.0' }));
    await expect(act('upgrade', { params: { fileId: other } })).rejects.toMatchObject({
      data: { issues: [{ path: '/params/fileId', code: 'NO_PACKAGE' }] },
    });
    const fileId = await upload('mine.tgz', await agentPackage('0.3.0'));
    await expect(act('upgrade', { params: { fileId, version: '0.3.1' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/params/fileId', code: 'OTHER_VERSION' }] },
    });
  });

  it('needs a package signed with a trusted key', async () => {
    const asked: unknown[] = [];
    agent.onQuestion((question) => void asked.push(question));
    for (const [key, code] of [
      [null, 'UNSIGNED'],
      [generateKeyPairSync('ed25519').privateKey, 'UNTRUSTED_KEY'],
    ] as const) {
      const fileId = await upload(`${code}.tgz`, await agentPackage('6.6.6', key));
      await expect(act('upgrade', { params: { fileId } })).rejects.toMatchObject({
        ...{ status: 400, data: { issues: [{ path: '/params/fileId', code }] } },
      });
    }
    expect(asked).toEqual([]);
  });

  it('needs a permission of its own, which Operators do not have', async () => {
    const { data: groups } = await administrator.client.groups.list({ query: { count: 100, offset: 0 } });
    const values = groups.find(({ name }) => name === 'Operators')?.permissions.map(({ value }) => value) ?? [];
    expect(values).toContain(permissions['agents.execute']);
    const operator = await controller.signInWith(administrator, values);
    const fileId = await upload('signed.tgz', await agentPackage('0.2.1'));
    const upgrade = () =>
      operator.client.agents.actions({ body: { array: [agent.agentId], action: 'upgrade', params: { fileId } } });
    await expect(upgrade()).rejects.toMatchObject({ status: 403, data: { permission: 'agents.upgrade' } });
    const body = { array: [agent.agentId], action: 'ping' as const };
    expect((await operator.client.agents.actions({ body })).data.results).toMatchObject([{ ok: true }]);
  });

  it('is refused with every other permission, too, and nothing reaches the agent', async () => {
    const { 'system.admin': admin, 'agents.upgrade': upgrade, ...others } = permissions;
    const asked: string[] = [];
    agent.onQuestion(({ kind }) => void asked.push(kind));
    const fileId = await upload('signed-too.tgz', await agentPackage('0.2.2'));
    const body = { array: [agent.agentId], action: 'upgrade' as const, params: { fileId } };
    const user = await controller.signInWith(administrator, Object.values(others));
    await expect(user.client.agents.actions({ body })).rejects.toEqual(refused(403, 'FORBIDDEN'));
    expect(asked).toEqual([]);
    expect([admin, upgrade]).toEqual([1, 36]);
    const holders = initialGroups.filter(({ permissions: own }) =>
      own.some((value) => [admin, upgrade].includes(value as never)),
    );
    expect(holders.map(({ name }) => name)).toEqual(['Administrators']);
  });

  it('is reported when the agent is back as a new process; meanwhile it is upgrading', async () => {
    await upload('rushhour-agent-0.2.0.tgz', await agentPackage('0.2.0'));
    const asked: unknown[] = [];
    agent.onQuestion((question) => void asked.push(question));
    expect((await act('upgrade', { params: { version: '0.2.0' } })).results[0]).toEqual({
      id: agent.agentId,
      ok: true,
    });
    const statusNow = async () =>
      (await administrator.client.agents.get({ params: { id: agent.agentId } })).data.status;
    await expect.poll(() => asked).toMatchObject([{ kind: 'upgrade', version: '0.2.0' }]);
    await expect.poll(statusNow).toBe(6);
    await agent.close();
    await sleep(300);
    expect(await statusNow()).toBe(6);
    const { identity } = agent;
    const facts = testFacts({ version: '0.2.0' });
    agent = await connectTestAgent({ url: controller.url, identity, bootId: randomUUID(), facts });
    await expect
      .poll(() => notified('agent.upgrade'))
      .toMatchObject([{ severity: 'info', message: 'Upgrade of 1 agent: 1 done', entity: { id: agent.agentId } }]);
    expect(await statusNow()).toBe(1);
  });

  it('that the agent refuses is reported, and the agent works on', async () => {
    const fileId = await upload('some-package.tgz', await agentPackage('0.4.0'));
    agent.onQuestion(() => {
      throw new Error('bad signature');
    });
    await act('upgrade', { params: { fileId } });
    const failures = async () => (await notified('agent.upgrade')).filter(({ severity }) => severity === 'error');
    await expect.poll(failures).toMatchObject([{ message: expect.stringContaining('bad signature') }]);
    const status = async () => (await administrator.client.agents.get({ params: { id: agent.agentId } })).data.status;
    await expect.poll(status).toBe(1);
  });
});
