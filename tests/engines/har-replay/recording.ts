import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { compileHar } from '../../../packages/controller/src/assets/har/compile-har.ts';
import { type HarOptions, paramsOf } from '../../../packages/controller/src/assets/har/testing/har-fixture.ts';
import { freePort } from '../../process/free-port.ts';
import { runJob, type Started, startServer, type Totals } from '../job.ts';

/** Clean-up of what a test has opened, run after it. */
export const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** The two files of the agents, in a folder that is removed after the test. */
export const compiledFiles = (har: string, options: HarOptions = {}) => {
  const compiled = compileHar(har, paramsOf(options));
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-har-'));
  const [script, answers] = [join(folder, 'script.json'), join(folder, 'answers.json')];
  writeFileSync(script, JSON.stringify(compiled.script));
  writeFileSync(answers, JSON.stringify(compiled.answers));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return { compiled, script, answers };
};

/** Starts the server side of a recording. */
export const serve = async (har: string, options: HarOptions = {}) => {
  const { compiled, script, answers } = compiledFiles(har, options);
  const port = await freePort();
  const names = [...new Set(compiled.script.origins.map(({ host }) => host))];
  const config = {
    listen: [{ host: '127.0.0.1', port }],
    names,
    http3: compiled.script.origins.some(({ version }) => version === '3'),
    answers,
    mode: options.server?.mode ?? 'recorded',
  };
  const server: Started = await startServer('har-replay', config);
  undo.push(() => server.stop());
  return { port, script, server, http3: config.http3 };
};

export interface Played {
  readonly client: Totals;
  readonly server: Totals;
}

/** Replays a recording between a client and a server. */
export const play = async (
  har: string,
  options: HarOptions = {},
  more: object = {},
  duration: object = { mode: 'continuous' },
): Promise<Played> => {
  const { port, script, server, http3 } = await serve(har, options);
  const { connections = 'perHost', cookies = 'replay', cache = false } = options;
  const config = {
    role: 'client',
    targets: [{ host: '127.0.0.1', port, place: 0 }],
    script,
    http3,
    marks: true,
    connections,
    cookies,
    cache,
    ...more,
  };
  const client = await runJob({ engine: 'har-replay', config, duration });
  expect(client.outcome).toMatchObject({ status: 'finished' });
  return { client, server: await server.stop() };
};

/** Counters of both sides. */
export const counts = ({ client, server }: Played) => ({
  requests: client.counter('har-replay.requests'),
  ok: client.counter('har-replay.ok'),
  ko: client.counter('har-replay.ko'),
  missed: server.counter('har-replay.missed'),
  similar: server.counter('har-replay.similar'),
});
export const allOk = (requests: number) => ({ requests, ok: requests, ko: 0, missed: 0, similar: 0 });
/** Every answer is exactly as recorded. */
export const exact = { checks: { status: true, bodySize: true, bodySha256: true } };
