import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { joinTokenOf } from '@rushhour/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSelfSigned } from '../net/tls/self-signed.ts';
import { Bench } from '../testing/agent-process.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';

let server: ProtocolServer;
const bench = new Bench();

beforeEach(async () => {
  server = await ProtocolServer.start();
});
afterEach(async () => {
  await bench.close();
  await server.vanish();
  expect(server.violations).toEqual([]);
});

describe('agent process', () => {
  it('enrols with a token, keeps its key to itself and needs no token later', async () => {
    const first = await bench.join(server);
    expect(first.greeting).toMatchObject({ type: 'enrol', facts: { version: '0.1.0' } });
    expect((await stat(join(first.agent.dataDir, 'identity.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(first.agent.dataDir)).mode & 0o077).toBe(0);
    const rival = bench.run(first.agent.dataDir, ['--controller', server.url]);
    expect(await first.agent.stop()).toBe(0);
    await server.until({ type: 'hello', uuid: first.uuid });
    await rival.stop();
    const second = await bench.join(server, first.agent.dataDir);
    expect(second.uuid).toBe(first.uuid);
    expect(second.greeting).toMatchObject({ type: 'hello', runs: [] });
    const keys = server.all('proof', first.uuid).map(({ publicKey }) => publicKey);
    expect(new Set(keys).size).toBe(1);
    expect(second.greeting.bootId).not.toBe(first.greeting.bootId);
  });

  it('does not start with an invalid configuration and lists every problem', async () => {
    const agent = bench.run(await bench.folder(), ['--controller', 'ftp://x', '--fingerprint', 'ab', '--speed', '9']);
    expect(await agent.exited).toBe(78);
    for (const problem of ['--controller must', '--fingerprint must', '--speed is not known']) {
      expect(agent.output).toContain(problem);
    }
    const unknown = bench.run(await bench.folder(), ['--controller', server.url]);
    expect(await unknown.exited).toBe(78);
    expect(unknown.output).toContain('this agent is not enrolled yet');
  });

  it('exits with a clear message when refused, and refuses another controller', async () => {
    const guessed = ['--token', joinTokenOf('guessed', server.key)];
    const stranger = bench.run(await bench.folder(), ['--controller', server.url, ...guessed]);
    expect(await stranger.exited).toBe(77);
    expect(stranger.output).toContain('the controller refuses this agent: refused with TOKEN_UNKNOWN (TOKEN_UNKNOWN)');
    const { agent, uuid } = await bench.join(server);
    server.controllerId = 'another';
    server.drop(uuid);
    expect(await agent.exited).toBe(77);
    expect(agent.output).toContain('this agent belongs to controller');
  });

  it('enrols again with a new token when the controller has forgotten it', async () => {
    const { agent, uuid } = await bench.join(server);
    await agent.stop();
    server.enrolled.clear();
    const after = server.heard.length;
    bench.run(agent.dataDir, ['--controller', server.url, '--token', server.createToken()]);
    await server.until({ type: 'enrol', uuid, after });
    await server.until({ type: 'heartbeat', uuid, after });
  });

  it('reconnects after an outage of the controller and tolerates invalid messages', async () => {
    const { uuid, agent } = await bench.join(server);
    server.sendRaw(uuid, '{"type":"dance"}');
    server.sendRaw(uuid, 'no JSON');
    server.sendRaw(uuid, '{"type":"question","id":77,"question":{"kind":"riddle"}}');
    expect(await server.until({ type: 'answer', uuid, fits: ({ id }) => id === 77 })).toMatchObject({ ok: false });
    server.sendRaw(uuid, '{"type":"prepare","runId":5,"epoch":1,"orders":[{"engine":7}],"files":[]}');
    const failed = await server.until({ type: 'prepareFailed', uuid });
    expect(failed.problems[0]?.message).toContain('/orders/0');
    await server.vanish();
    await server.listen();
    const after = server.heard.length;
    expect(await server.until({ type: 'hello', uuid, after })).toMatchObject({ runs: [] });
    expect(agent.output).toContain('unknown message: dance');
  });

  it('measures the clock of the controller and reports its own health', { retry: 2 }, async () => {
    server.clockAheadMs = 90_000;
    const { uuid } = await bench.join(server);
    const { clockOffsetMs, roundTripMs } = await server.until({
      type: 'heartbeat',
      uuid,
      fits: (beat) => Math.abs(beat.clockOffsetMs) > 1000,
    });
    expect(Math.abs(clockOffsetMs - 90_000)).toBeLessThan(50);
    expect(roundTripMs).toBeGreaterThan(0);
    const { health } = await server.until({ type: 'heartbeat', uuid, fits: (beat) => beat.health !== undefined });
    expect(health?.cpuPct.length).toBeGreaterThan(0);
    expect(health?.diskFreeMb).toBeGreaterThan(0);
    expect(health?.interfaces.map(({ name }) => name)).toContain('lo');
  });

  it('answers questions and sends its log, also without a reader of its output', async () => {
    const { uuid, agent } = await bench.join(server);
    agent.closeOutput();
    for (let i = 0; i < 3; i++) server.sendRaw(uuid, '{"type":"dance"}');
    expect(await server.ask(uuid, { kind: 'ping' })).toMatchObject({ ok: true });
    const { result: facts } = await server.ask(uuid, { kind: 'rescan' });
    expect(facts).toMatchObject({ machineId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    const sent = await server.until({ type: 'logs', uuid });
    expect(sent.lines[0]).toMatchObject({ level: 'info', source: 'agent' });
    const { result: lines } = await server.ask(uuid, { kind: 'collectLogs' });
    expect(lines).toEqual(expect.arrayContaining([expect.objectContaining({ message: sent.lines[0]?.message })]));
  });

  it('exits with its parent process and leaves restarts to it', async () => {
    const first = await bench.join(server, undefined, ['--exit-with-parent']);
    expect(await server.ask(first.uuid, { kind: 'restart' })).toMatchObject({ ok: true });
    expect(await first.agent.exited).toBe(75);
    const second = await bench.join(server, first.agent.dataDir, ['--exit-with-parent']);
    second.agent.closeInput();
    expect(await second.agent.exited).toBe(0);
  });

  it('restarts itself on request', async () => {
    const { uuid, agent, greeting } = await bench.join(server);
    const after = server.heard.length;
    await server.ask(uuid, { kind: 'restart' });
    expect(await agent.exited).toBe(0);
    const hello = await server.until({ type: 'hello', uuid, after });
    expect(hello.bootId).not.toBe(greeting.bootId);
  });

  it('trusts a TLS controller only by certificate fingerprint or CA', async () => {
    const { certificate: cert, privateKey: key } = createSelfSigned(['127.0.0.1']);
    const secure = await ProtocolServer.start({ cert, key });
    try {
      const { X509Certificate } = await import('node:crypto');
      const { fingerprint256 } = new X509Certificate(cert);
      await bench.join(secure, undefined, ['--fingerprint', fingerprint256]);
      const caFile = join(await bench.folder(), 'ca.pem');
      await writeFile(caFile, cert);
      await bench.join(secure, undefined, ['--ca', caFile]);
      const before = secure.heard.length;
      const wary = [
        bench.run(await bench.folder(), [
          '--controller',
          secure.url,
          '--token',
          secure.createToken(),
          '--fingerprint',
          'ab'.repeat(32),
        ]),
        bench.run(await bench.folder(), ['--controller', secure.url, '--token', secure.createToken()]),
      ];
      for (const agent of wary) {
        await expect.poll(() => agent.output).toMatch(/does not match the given fingerprint|self-signed/);
      }
      const lines = secure.heard.slice(before).map(({ message }) => message.type);
      expect(lines).not.toContain('enrol');
    } finally {
      await bench.close();
      await secure.vanish();
    }
  });
});
