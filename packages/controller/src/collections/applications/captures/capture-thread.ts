import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PcapError } from '@rushhour/pcap';
import { analyzeApplication } from './analyze-job.ts';
import type { CaptureTask, FromThread, ToThread } from './capture-task.ts';
import { trimApplication } from './trim-job.ts';

const port = parentPort as MessagePort;

let answer: (reply: ToThread) => void = () => {};
port.on('message', (reply: ToThread) => answer(reply));

const tell = (message: FromThread) => port.postMessage(message);
const ask = (message: FromThread) =>
  new Promise<ToThread>((resolve) => {
    answer = resolve;
    tell(message);
  });

async function* source(): AsyncGenerator<Uint8Array> {
  await ask({ kind: 'open' });
  for (let bytes = await ask({ kind: 'pull' }); bytes !== null; bytes = await ask({ kind: 'pull' })) yield bytes;
}

const write = async (bytes: Uint8Array) => {
  await ask({ kind: 'write', bytes });
};

const run = (task: CaptureTask) =>
  task.kind === 'analyze'
    ? analyzeApplication(source(), task.job, () => tell({ kind: 'searching' }))
    : trimApplication(source, write, task.job);

try {
  tell({ kind: 'done', outcome: await run(workerData as CaptureTask) });
} catch (error) {
  if (error instanceof PcapError) tell({ kind: 'failed', code: error.code, message: error.message });
  else if (error instanceof SyntaxError) tell({ kind: 'failed', code: 'BAD_PATTERN', message: error.message });
  else throw error;
}
port.close();
