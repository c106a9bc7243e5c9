import { randomBytes } from 'node:crypto';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../tests/process/free-port.ts';
import { Bench, type Joined } from '../testing/agent-process.ts';
import { serverJob } from '../testing/jobs.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';

const bench = new Bench();
let server: ProtocolServer;
let joined: Joined;

beforeAll(async () => {
  server = await ProtocolServer.start();
  joined = await bench.join(server);
});
afterAll(async () => {
  await bench.close();
  await server.vanish();
  expect(server.violations).toEqual([]);
});

const pathOf = (sha256: string) => join(joined.agent.dataDir, 'files', sha256);
const asked = (sha256: string) => server.all('needFile', joined.uuid).filter((message) => message.sha256 === sha256);

describe('files on agents', () => {
  it('resume after a lost connection', async () => {
    const content = randomBytes(3_000_000);
    const file = server.addFile(content);
    server.cutFileAfter = 1_000_000;
    server.send(joined.uuid, { type: 'question', id: 500, question: { kind: 'fetchFile', ...file, verify: false } });
    await server.until({ type: 'needFile', uuid: joined.uuid, fits: ({ offset }) => offset >= 1_000_000 });
    await expect.poll(async () => (await stat(pathOf(file.sha256)).catch(() => undefined))?.size).toBe(file.size);
    expect(content.equals(await readFile(pathOf(file.sha256)))).toBe(true);
    expect(asked(file.sha256).map(({ offset }) => offset)).toEqual([0, 1_048_576]);
    const again = await server.ask(joined.uuid, { kind: 'fetchFile', ...file, verify: true });
    expect(again).toMatchObject({ ok: true, result: { bytes: file.size } });
    expect(asked(file.sha256).length).toBe(2);
  });

  it('are fetched again when damaged, and refused when the hash does not match', async () => {
    const file = server.addFile(randomBytes(1000));
    await server.ask(joined.uuid, { kind: 'fetchFile', ...file, verify: false });
    await writeFile(pathOf(file.sha256), randomBytes(1000));
    expect(await server.ask(joined.uuid, { kind: 'fetchFile', ...file, verify: true })).toMatchObject({ ok: true });
    expect(await readFile(pathOf(file.sha256))).toEqual(server.files.get(file.sha256));
    await truncate(pathOf(file.sha256), 10);
    expect(await server.ask(joined.uuid, { kind: 'fetchFile', ...file, verify: false })).toMatchObject({ ok: true });
    const liar = server.addFile(randomBytes(500));
    server.files.set(liar.sha256, randomBytes(500));
    const refused = await server.ask(joined.uuid, { kind: 'fetchFile', ...liar, verify: false });
    expect(refused).toMatchObject({ ok: false, error: expect.stringContaining('does not match its hash') });
    const missing = await server.ask(joined.uuid, {
      kind: 'fetchFile',
      sha256: 'ab'.repeat(32),
      size: 5,
      verify: false,
    });
    expect(missing).toMatchObject({ ok: false, error: expect.stringContaining('there is no such file') });
  });

  it('are present before a run is prepared, and replace references to them', async () => {
    const of = { runId: 1, epoch: 1 };
    const port = await freePort();
    const body = server.addFile(Buffer.from('from a file'));
    const empty = server.addFile(Buffer.alloc(0));
    const data = { $file: body.sha256, as: 'base64' };
    const order = serverJob(of, port);
    const withBody = (reference: unknown) => ({
      ...order,
      config: { ...(order.config as object), responses: [{ body: { type: 'base64', data: reference } }] },
    });
    server.send(joined.uuid, { type: 'prepare', ...of, orders: [withBody(data)], files: [body, empty] });
    await server.until({ type: 'prepared', uuid: joined.uuid });
    expect((await stat(pathOf(empty.sha256))).size).toBe(0);
    server.send(joined.uuid, { type: 'start', ...of, at: Date.now() });
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(await answer.text()).toBe('from a file');
    server.send(joined.uuid, { type: 'stop', ...of, mode: 'abort' });
    await server.until({ type: 'ended', uuid: joined.uuid });
    const later = { runId: 2, epoch: 1 };
    server.send(joined.uuid, { type: 'prepare', ...later, orders: [{ ...withBody(data), ...later }], files: [] });
    const failed = await server.until({ type: 'prepareFailed', uuid: joined.uuid });
    expect(failed.problems[0]?.message).toContain('is not among the files of the run');
  });

  it('that do not match their hash are the problem of the job that needs them', async () => {
    const of = { runId: 3, epoch: 1 };
    const liar = server.addFile(randomBytes(500));
    server.files.set(liar.sha256, randomBytes(500));
    const order = serverJob(of, await freePort());
    const needing = { ...order, config: { ...(order.config as object), body: [{ $file: liar.sha256 }] } };
    server.send(joined.uuid, { type: 'prepare', ...of, orders: [order, needing], files: [liar] });
    const failed = await server.until({ type: 'prepareFailed', uuid: joined.uuid, fits: ({ runId }) => runId === 3 });
    expect(failed.problems).toMatchObject([{ order: 1, message: expect.stringContaining('does not match its hash') }]);
  });
});
