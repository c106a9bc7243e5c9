import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { joinTokenOf, parseJoinToken } from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { agentTokens } from '../store/agents/agents.ts';
import { verifyAudit } from '../store/engine/audit.ts';
import { statement } from '../store/engine/statement.ts';
import { connectTestAgent, createTestIdentity, enrolTestAgent, type TestAgent, testFacts } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const newToken = async (more: { maxUses?: number; tags?: string } = {}) =>
  (await administrator.client.agents.createToken({ body: { name: 'for tests', ttlSec: 600, maxUses: 1, ...more } }))
    .data;
const agentOf = async (id: number) => (await administrator.client.agents.get({ params: { id } })).data;
const refusal = (code: string) => expect.objectContaining({ refused: expect.objectContaining({ code }) });
const join = (token: string, more: object = {}) => connectTestAgent({ url: controller.url, token, ...more });

describe('an enrolment token', () => {
  it('is shown once, with the command that uses it', async () => {
    const made = await newToken({ tags: 'lab,rack-1' });
    expect(made).toMatchObject({ controllerUrl: controller.url, fingerprint: '' });
    expect(made.token).toMatch(/^rh_join_[\w-]{43}\.[\w-]{43}$/);
    expect(made.command).toBe(`curl -fsSL ${controller.url}/agent/install.sh | sh -s -- --token ${made.token}`);
    const { data } = await administrator.client.agents.tokens({ query: {} });
    expect(data.find(({ id }) => id === made.id)).toMatchObject({ usesLeft: 1, tags: 'lab,rack-1', issuer: { id: 1 } });
    const { secret } = parseJoinToken(made.token);
    expect(JSON.stringify(data)).not.toContain(secret);
    expect(JSON.stringify(await agentTokens.find(controller.store.read, made.id))).not.toContain(secret);
  });

  it('lets an agent in that is online from then on, with what it said about its machine', async () => {
    const { token } = await newToken({ tags: 'lab' });
    const agent = await join(token, { name: 'first' });
    expect(await agentOf(agent.agentId)).toMatchObject({
      ...{ name: 'first', status: 1, tags: 'lab', uuid: agent.identity.uuid, hostname: 'test-host', issuerID: 1 },
      ...{ cpuCores: 2, reservation: null, activeTaskIDs: [], interfaces: [{ name: 'lo' }], isBlocked: false },
    });
    await agent.close();
  });

  it('is used up by exactly as many agents as it may be, however they race', async () => {
    const { token } = await newToken({ maxUses: 2 });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => join(token)));
    const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const losers = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(winners).toHaveLength(2);
    for (const loser of losers) expect(loser).toEqual(refusal('TOKEN_SPENT'));
    await Promise.all(winners.map((agent) => agent.close()));
  });

  it('is worth nothing when it is unknown, expired or revoked', async () => {
    await expect(join('rh_join_nothing')).rejects.toEqual(refusal('TOKEN_UNKNOWN'));
    const revoked = await newToken();
    expect(await administrator.client.agents.removeTokens({ body: { array: [revoked.id] } })).toEqual({
      data: [revoked.id],
    });
    await expect(join(revoked.token)).rejects.toEqual(refusal('TOKEN_UNKNOWN'));
    const expired = await newToken();
    const expire = statement((db, p: { id: number }) =>
      db.updateTable('agentTokens').set({ expiresAt: '2020-01-01T00:00:00.000Z' }).where('id', '=', p.id),
    );
    await controller.store.database.transaction((tx) => expire.all(tx, { id: expired.id }));
    await expect(join(expired.token)).rejects.toEqual(refusal('TOKEN_EXPIRED'));
  });

  it('cannot be revoked twice, and needs a permission of its own', async () => {
    const { id } = await newToken();
    await administrator.client.agents.removeTokens({ body: { array: [id] } });
    await expect(administrator.client.agents.removeTokens({ body: { array: [id] } })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
    const reader = await controller.signInWith(administrator, [31, 32, 33]);
    await expect(reader.client.agents.tokens({ query: {} })).rejects.toEqual(refused(403, 'FORBIDDEN'));
  });
});

describe('an enrolling agent', () => {
  it('gets a name of its own when the wanted one is taken', async () => {
    const { token } = await newToken({ maxUses: 3 });
    const agents: TestAgent[] = [];
    for (const name of ['twin', 'twin', '  tw\u0007in ']) agents.push(await join(token, { name }));
    const names = await Promise.all(agents.map(async ({ agentId }) => (await agentOf(agentId)).name));
    expect(names).toEqual(['twin', 'twin-2', 'tw in']);
    await Promise.all(agents.map((agent) => agent.close()));
  });

  it('leaves an entry in the audit chain', async () => {
    const before = await verifyAudit(controller.store.read, controller.store.secrets);
    const agent = await enrolTestAgent(administrator.client, { url: controller.url });
    const after = await verifyAudit(controller.store.read, controller.store.secrets);
    expect(after.broken).toBeUndefined();
    expect(after.entries - before.entries).toBe(2);
    await agent.close();
  });

  it('that is refused leaves an entry, too, but a flood of them only a few', async () => {
    const denied = async () =>
      (await deniedEnrolments.all(controller.store.read, {})).map(({ detail }) => JSON.parse(detail ?? '{}').code);
    const before = (await denied()).length;
    await expect(join(joinTokenOf('guessed', controller.agents.controllerKey))).rejects.toEqual(
      refusal('TOKEN_UNKNOWN'),
    );
    await expect.poll(async () => (await denied()).length).toBeGreaterThan(before);
    expect((await denied()).at(-1)).toBe('TOKEN_UNKNOWN');
    for (let i = 0; i < 20; i += 1) await expect(join('rh_join_guessed')).rejects.toEqual(refusal('TOKEN_UNKNOWN'));
    expect((await denied()).length).toBeLessThan(15);
    expect((await verifyAudit(controller.store.read, controller.store.secrets)).broken).toBeUndefined();
  });

  it('that never got its welcome enrols again without another use of the token', async () => {
    const { token } = await newToken();
    const identity = createTestIdentity();
    const first = await join(token, { identity });
    await first.close('broken');
    const again = await join(token, { identity });
    expect(again.agentId).toBe(first.agentId);
    await again.close();
  });

  it('must prove that it holds its key', async () => {
    const { token } = await newToken();
    const other = createTestIdentity();
    const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64');
    const changed = (more: object) => ({ proof: (proof: object) => ({ ...proof, ...more }) });
    const forged = changed({ publicKey: spki(createPublicKey(other.privateKey)) });
    await expect(join(token, forged)).rejects.toEqual(refusal('BAD_SIGNATURE'));
    const unsigned = changed({ signature: `${'A'.repeat(86)}==` });
    await expect(join(token, unsigned)).rejects.toEqual(refusal('BAD_SIGNATURE'));
    const odd = changed({ publicKey: spki(generateKeyPairSync('x25519').publicKey) });
    await expect(join(token, odd)).rejects.toEqual(refusal('BAD_KEY'));
    await expect(join(token, changed({ publicKey: '?' }))).rejects.toEqual(refusal('BAD_KEY'));
    const agent = await join(token);
    await agent.close();
  });

  it('cannot take the place of another by its number alone', async () => {
    const victim = await enrolTestAgent(administrator.client, { url: controller.url });
    const thief = { uuid: victim.identity.uuid, privateKey: createTestIdentity().privateKey };
    const { token } = await newToken();
    await expect(join(token, { identity: thief })).rejects.toEqual(refusal('UNKNOWN_AGENT'));
    await expect(connectTestAgent({ url: controller.url, identity: thief })).rejects.toEqual(refusal('UNKNOWN_AGENT'));
    expect(controller.agents.gateway.isOnline(victim.agentId)).toBe(true);
    await victim.close();
  });

  it('is refused when it is too old, and its token is not used', async () => {
    await administrator.client.settings.update({ body: { agents: { minVersion: '2.10.0' } } });
    const { token, id } = await newToken();
    const old = { facts: testFacts({ version: '2.9.9' }) };
    await expect(join(token, old)).rejects.toEqual(refusal('INCOMPATIBLE'));
    const first = (text: string) =>
      new Promise<{ code: string }>((resolve) => {
        const socket = new WebSocket(`${controller.url.replace('http', 'ws')}/agent`);
        socket.on('message', (data: Buffer) => {
          const message = JSON.parse(data.toString());
          if (message.type === 'challenge') socket.send(text);
          else resolve(message);
        });
      });
    const ofProtocol1 = JSON.stringify({ type: 'hello', protocol: 1, uuid: 'x', runs: [] });
    expect(await first(ofProtocol1)).toMatchObject({ type: 'refused', code: 'INCOMPATIBLE', retry: true });
    expect(await agentTokens.find(controller.store.read, id)).toMatchObject({ usesLeft: 1 });
    const agent = await join(token, { facts: testFacts({ version: '2.10.0' }) });
    await agent.close();
    await expect(connectTestAgent({ url: controller.url, identity: agent.identity, ...old })).rejects.toEqual(
      refusal('INCOMPATIBLE'),
    );
    expect(await agentOf(agent.agentId)).toMatchObject({ status: 7, version: '2.9.9' });
    await administrator.client.settings.update({ body: { agents: { minVersion: '0.0.0' } } });
  });
});

const deniedEnrolments = statement((db, _: object) =>
  db
    .selectFrom('audit')
    .select('detail')
    .where('operation', '=', 'agents.enrol')
    .where('outcome', '=', 'denied')
    .orderBy('id'),
);
