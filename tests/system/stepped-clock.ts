import { readFileSync } from 'node:fs';

// Preloaded into processes of a test (`node --import`): their system clock is off by the number of milliseconds in a
// file. Monotonic clocks stay as they are, as when an administrator or NTP sets the clock of a machine.
const file = process.env['TEST_CLOCK_FILE'] ?? '';
const SystemDate = globalThis.Date;
let stepMs = 0;
let readAt = Number.NEGATIVE_INFINITY;

const now = (): number => {
  if (performance.now() - readAt > 20) {
    readAt = performance.now();
    stepMs = Number(readFileSync(file, 'utf8')) || 0;
  }
  return SystemDate.now() + stepMs;
};

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, member) => (member === 'now' ? now : Reflect.get(target, member)),
});
