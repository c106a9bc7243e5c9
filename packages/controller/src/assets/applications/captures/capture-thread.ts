import { type MessagePort, parentPort } from 'node:worker_threads';
import { PcapError } from '@rushhour/pcap';
import { analyzeApplication } from './analyze-job.ts';
import type { CaptureTask, FromThread, ToThread } from './run-capture-task.ts';
import { trimApplication } from './trim-job.ts';

const port = parentPort as MessagePort;

let answer: (reply: ToThread) => void = () => {};

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
    ? analyzeApplication(source(), task.job, (bytes) => tell({ kind: 'searching', bytes }))
    : trimApplication(source, write, task.job);

const runAndTell = async (task: CaptureTask) => {
  try {
    tell({ kind: 'done', outcome: await run(task) });
  } catch (error) {
    if (error instanceof PcapError) tell({ kind: 'failed', code: error.code, message: error.message });
    else if (error instanceof SyntaxError) tell({ kind: 'failed', code: 'BAD_PATTERN', message: error.message });
    else throw error;
  }
};

// One task at a time; while it runs, what comes is the answer to what it asked.
port.on('message', (message: ToThread | CaptureTask) => {
  if (message !== null && 'kind' in message) void runAndTell(message);
  else answer(message);
});
