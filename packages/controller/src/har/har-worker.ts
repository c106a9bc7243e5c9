import { parentPort, workerData } from 'node:worker_threads';
import { type HarWork, harResultOf } from './har-result.ts';

parentPort?.postMessage(harResultOf(workerData as HarWork));
