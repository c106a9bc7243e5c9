import { parentPort, workerData } from 'node:worker_threads';
import { type HarWork, harResultOf } from './compile-recording.ts';

const result = parentPort && harResultOf(workerData as HarWork);
const files = result && 'client' in result ? [result.client, result.server] : [];
parentPort?.postMessage(
  result,
  files.map(({ bytes }) => bytes.buffer as ArrayBuffer),
);
