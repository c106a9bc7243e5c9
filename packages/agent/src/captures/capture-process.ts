import { enableCompileCache } from 'node:module';
import type { CaptureOptions, FromCapture, ToCapture } from './capture-messages.ts';
import type { InterfaceCapture as Capturing } from './interface-capture.ts';

// The process that captures for one run, so that neither traffic nor agent waits for the disk. It closes its captures
// and exits when the agent is gone. Argument: the folder of the compile cache.
enableCompileCache(process.argv[2]);
const { InterfaceCapture } = await import('./interface-capture.ts');

const pollMs = 4;
const settleMs = 500;
const ringBytes = 32 * 1024 * 1024;
const captures: Capturing[] = [];
let isEnding = false;

const report = (message: FromCapture) => {
  if (process.connected) process.send?.(message);
};

const begin = async ({ interfaces, ...job }: CaptureOptions) => {
  const problems: string[] = [];
  const share = { maxBytes: Math.floor(job.capture.maxBytes / interfaces.length) };
  for (const one of interfaces) {
    try {
      const capture = { ...job.capture, ...share };
      const capturing = new InterfaceCapture({ ...job, ...one, capture, ringBytes: ringBytes / interfaces.length });
      captures.push(capturing);
      await capturing.save();
    } catch (error) {
      problems.push(`${one.interface} is not captured: ${(error as Error).message}`);
    }
  }
  report({ type: 'begun', problems });
  setInterval(() => captures.forEach((capture) => void capture.poll()), pollMs);
  setInterval(settle, settleMs);
};

const settle = () => {
  if (isEnding) return;
  for (const capture of captures) capture.settle();
  report({ type: 'states', states: captures.map(({ state }) => state) });
};

const end = async () => {
  if (isEnding) return;
  isEnding = true;
  const states = await Promise.all(captures.map((capture) => capture.end()));
  if (!process.connected) process.exit(0);
  const message: FromCapture = { type: 'states', states };
  process.send?.(message, undefined, {}, () => process.exit(0));
};

process.on('message', (message: ToCapture) => void (message.type === 'begin' ? begin(message.job) : end()));
process.on('disconnect', () => void end());
process.on('SIGTERM', () => void end());
// A terminal sends SIGINT to the agent as well, which then ends its captures.
process.on('SIGINT', () => {});
