import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rushhour-key-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Waits until all the others are there too, then asks for the key of each folder. */
const asker = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ loadKey }) => {
    const arrived = new Int32Array(workerData.arrived);
    const keys = [];
    for (let round = 0; round < workerData.folders.length; round++) {
      Atomics.add(arrived, 0, 1);
      while (Atomics.load(arrived, 0) < (round + 1) * workerData.count);
      keys.push(loadKey(undefined, workerData.folders[round], false).toString('hex'));
    }
    parentPort.postMessage(keys);
  });
`;

it('one key is made when several ask for it at the same moment', async () => {
  const folders = Array.from({ length: 50 }, () => mkdtempSync(join(folder, 'data-')));
  const workerData = {
    module: new URL('./secrets.ts', import.meta.url).href,
    arrived: new SharedArrayBuffer(4),
    folders,
    count: 2,
  };
  const workers = Array.from({ length: workerData.count }, () => new Worker(asker, { eval: true, workerData }));
  const [one, two] = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0] as string[]));
  expect(one).toEqual(two);
  expect(new Set(one).size).toBe(folders.length);
  for (const each of folders) {
    expect(readdirSync(each)).toEqual(['secret.key']);
    expect(statSync(join(each, 'secret.key')).mode & 0o777).toBe(0o600);
  }
});
