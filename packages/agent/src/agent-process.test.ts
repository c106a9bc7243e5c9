import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSelfSigned } from './net/self-signed.ts';
import { Bench } from './testing/agent-process.ts';
import { ProtocolServer } from './testing/protocol-server.ts';

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
    const identity = join(first.agent.dataDir, 'identity.json');
    expect((await stat(identity)).mode & 0o777).toBe(0o600);
    expect((await stat(first.agent.dataDir)).mode & 0o077).toBe(0);
    expect(await first.agent.stop()).toBe(0);
    const second = await bench.join(server, first.agent.dataDir);
    expect(second.uuid).toBe(first.uuid);
    expect(second.greeting).toMatchObject({ type: 'hello', publicKey: first.greeting.publicKey, runs: [] });
    expect(second.greeting.bootId).not.toBe(first.greeting.bootId);
  });
});
