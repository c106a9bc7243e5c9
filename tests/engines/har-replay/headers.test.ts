import { readFileSync, writeFileSync } from 'node:fs';
import type { HarAnswers, HarScript } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { harOf } from '../../../packages/controller/src/assets/har/testing/har-fixture.ts';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { compiledFiles, exact, undo } from './recording.ts';

const perConnection = [
  { name: 'Connection', value: 'keep-alive' },
  { name: 'Keep-Alive', value: 'timeout=5' },
  { name: 'Transfer-Encoding', value: 'chunked' },
  { name: 'TE', value: 'gzip' },
  { name: 'Upgrade', value: 'h2c' },
  { name: 'two words', value: 'x' },
];
const own = { name: 'X-Word', value: 'a\r\nSet-Cookie: b=c' };

/** Adds headers that HTTP/2 and HTTP/3 cannot carry to what the agents get. */
const addHeaders = (script: string, answers: string): void => {
  const added = [...perConnection, own];
  const client = JSON.parse(readFileSync(script, 'utf8')) as HarScript;
  const templates = added.map(({ name, value }) => ({ name, value: [value] }));
  const entries = client.entries.map((entry) => ({ ...entry, headers: [...entry.headers, ...templates] }));
  writeFileSync(script, JSON.stringify({ ...client, entries }));
  const server = JSON.parse(readFileSync(answers, 'utf8')) as HarAnswers;
  const changed = server.answers.map((answer) => ({ ...answer, headers: [...answer.headers, ...added] }));
  writeFileSync(answers, JSON.stringify({ ...server, answers: changed }));
};

it.each(['h2', 'h3'])('over %s, headers of one connection are left out on both sides', async (version) => {
  const url = 'https://a.test/';
  const har = harOf({ url: `${url}1`, version, text: 'abc' }, { url: `${url}2`, version, atMs: 5, text: 'def' });
  const { script, answers } = compiledFiles(har, exact);
  addHeaders(script, answers);
  const port = await freePort();
  const http3 = version === 'h3';
  const listen = [{ host: '127.0.0.1', port }];
  const server = await startServer('har-replay', { listen, names: ['a.test'], http3, answers });
  undo.push(() => server.stop());
  const config = { role: 'client', targets: [{ host: '127.0.0.1', port, place: 0 }], script, http3 };
  const run = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
  expect([run.counter('har-replay.ok'), run.counter('har-replay.connections')]).toEqual([2, 1]);
});
