import { type MessagePort, parentPort } from 'node:worker_threads';
import { PcapError } from '@rushhour/pcap';
import { analyzeApplication } from './analyze-job.ts';
import type { CaptureTask, FromThread, ToThread } from './run-capture-task.ts';
import { trimApplication } from './trim-job.ts';

const port = parentPort as MessagePort;

let answer: (reply: ToThread) => void = () => {};

const send = (message: FromThread) => port.postMessage(message);
const ask = (message: FromThread) =>
  new Promise<ToThread>((resolve) => {
    answer = resolve;
    send(message);
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
    ? analyzeApplication(source(), task.job, (bytes) => send({ kind: 'searching', bytes }))
    : trimApplication(source, write, task.job);

const runAndReport = async (task: CaptureTask) => {
  try {
    send({ kind: 'done', outcome: await run(task) });
  } catch (error) {
    if (error instanceof PcapError) send({ kind: 'failed', code: error.code, message: error.message });
    else if (error instanceof SyntaxError) send({ kind: 'failed', code: 'BAD_PATTERN', message: error.message });
    else throw error;
  }
};

// One task at a time; while it runs, incoming messages are replies to its requests.
port.on('message', (message: ToThread | CaptureTask) => {
  if (message !== null && 'kind' in message) void runAndReport(message);
  else answer(message);
});
