import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import type { RowsRecord } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { type JobOptions, runJob, startServer, type Totals } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram } from '../programs.ts';

takePriority();

const identity = createSelfSigned(['localhost', '127.0.0.1']);

/** Keys of sessions that a job has reported, in order; without those of exporters, which others log as well. */
const keysOf = ({ summaries }: Totals): string[] => {
  const records = summaries.flatMap((summary) => (summary.records ?? []) as Partial<RowsRecord>[]);
  const rows = records.flatMap(({ table, rows: reported = [] }) => (table === 'keys' ? reported : []));
  return sorted(rows.flatMap(({ state, cells }) => (state === 'tls' ? [String(cells['line'])] : [])));
};
const sorted = (lines: readonly string[]) =>
  lines.filter((line) => line !== '' && !/^(#|EXPORTER_SECRET)/.test(line)).toSorted();

const serve = async (config: object, options: Pick<JobOptions, 'writesKeys'> = { writesKeys: true }) => {
  const port = await freePort();
  const all = { listen: [{ host: '127.0.0.1', port }], responses: [{ body: { type: 'text', data: 'a' } }], ...config };
  const server = await startServer('http', { tls: identity, ...all }, options);
  return { port, stop: server.stop };
};

it.each([
  ['1.2', ['CLIENT_RANDOM']],
  [
    '1.3',
    [
      ...['CLIENT_HANDSHAKE_TRAFFIC_SECRET', 'CLIENT_TRAFFIC_SECRET_0'],
      ...['SERVER_HANDSHAKE_TRAFFIC_SECRET', 'SERVER_TRAFFIC_SECRET_0'],
    ],
  ],
])('keys of TLS %s are those that curl logs', async (version, labels) => {
  requireProgram('curl');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-keys-'));
  const file = join(folder, 'keys');
  const { port, stop } = await serve({});
  const args = ['-sk', `--tlsv${version}`, '--tls-max', version, `https://127.0.0.1:${port}/`];
  await execute('curl', args, { env: { ...process.env, SSLKEYLOGFILE: file } });
  const keys = keysOf(await stop());
  expect(keys.map((line) => line.split(' ')[0])).toEqual(labels);
  expect(keys).toEqual(sorted(readFileSync(file, 'utf8').split('\n')));
  rmSync(folder, { recursive: true });
});

it.each(['1.1', '3'])(
  'both sides of HTTP/%s report the same keys, and none unless they are asked for',
  async (version) => {
    const run = async (writesKeys: boolean) => {
      const { port, stop } = await serve({ version }, { writesKeys });
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], version, tls: {}, connections: 2 };
      const client = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 20 }, writesKeys });
      expect(client.counter('http.ok')).toBe(20);
      return [keysOf(client), keysOf(await stop())];
    };
    const [ours, theirs] = await run(true);
    expect(ours).toHaveLength(2 * 4);
    expect(theirs).toEqual(ours);
    expect(await run(false)).toEqual([[], []]);
  },
);

it('keys of all that a server speaks are kept, of HTTP/3 beside HTTP/1.1 too', async () => {
  const { port, stop } = await serve({ altSvc: true });
  const reported: string[] = [];
  for (const version of ['1.1', '3', '1.1']) {
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], version, tls: {}, connections: 2 };
    const client = await runJob({
      engine: 'http',
      config,
      duration: { mode: 'count', count: 20 },
      writesKeys: true,
    });
    reported.push(...keysOf(client));
  }
  expect(reported).toHaveLength(3 * 2 * 4);
  expect(keysOf(await stop())).toEqual(sorted(reported));
});
