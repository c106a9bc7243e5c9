import { enableCompileCache } from 'node:module';
import type { CaptureOptions, FromCapture, ToCapture } from './capture-messages.ts';
import type { InterfaceCapture as Capturing } from './interface-capture.ts';

// The process that captures for one run, so that neither the traffic nor the agent waits for the disk.
// It ends by itself when the agent is gone, and closes its dumps before. Argument: the folder for compiled code.
enableCompileCache(process.argv[2]);
const { InterfaceCapture } = await import('./interface-capture.ts');

const turnMs = 4;
const settleMs = 500;
const ringBytes = 32 * 1024 * 1024;
const captures: Capturing[] = [];
let isEnding = false;

const report = (message: FromCapture) => {
  if (process.connected) process.send?.(message);
};

const begin = async ({ interfaces, ...options }: CaptureOptions) => {
  const problems: string[] = [];
  const share = { maxBytes: Math.floor(options.capture.maxBytes / interfaces.length) };
  for (const one of interfaces) {
    try {
      const capture = { ...options.capture, ...share };
      const capturing = new InterfaceCapture({ ...options, ...one, capture, ringBytes: ringBytes / interfaces.length });
      captures.push(capturing);
      await capturing.save();
    } catch (error) {
      problems.push(`${one.interface} is not captured: ${(error as Error).message}`);
    }
  }
  report({ type: 'begun', problems });
  setInterval(() => captures.forEach((capture) => void capture.turn()), turnMs);
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
  const said: FromCapture = { type: 'states', states };
  process.send?.(said, undefined, {}, () => process.exit(0));
};

process.on('message', (message: ToCapture) => void (message.type === 'begin' ? begin(message.order) : end()));
process.on('disconnect', () => void end());
process.on('SIGTERM', () => void end());
// From a terminal it reaches the agent as well, which then ends its captures.
process.on('SIGINT', () => {});
