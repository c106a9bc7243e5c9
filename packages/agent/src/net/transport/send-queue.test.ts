import fc from 'fast-check';
import { expect, it } from 'vitest';
import { requireLibc } from '../kernel/libc.ts';
import { mapMemory } from '../kernel/memory.ts';
import { SendQueue } from './send-queue.ts';

const blockBytes = 16_384;
const memory = mapMemory({ length: 65_536 });
for (let index = 0; index < memory.length; index++) memory.bytes[index] = index * 31;

/** Writes in the order they are made, or what becomes of what was loaded. */
type Step =
  | { readonly kind: 'copy' | 'prepared'; readonly bytes: number }
  | { readonly kind: 'send'; readonly back: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('copy', 'prepared'), bytes: fc.integer({ min: 1, max: 20_000 }) }),
  fc.record({ kind: fc.constant('send' as const), back: fc.double({ min: 0, max: 1, noNaN: true }) }),
);

it('sends every byte once and in order, however writes, sends and bytes that come back alternate', () => {
  let value = 0;
  const run = (steps: readonly Step[]) => {
    const queue = new SendQueue();
    const wanted: Buffer[] = [];
    const sent: Buffer[] = [];
    // Addresses are those of blocks or of the memory above: the bytes there are read when the kernel would.
    const take = (count: number) => {
      sent.push(Buffer.from(new Uint8Array(requireLibc().view(queue.address, count))));
      queue.advance(count);
    };
    for (const one of steps) {
      if (one.kind === 'send') {
        if (!queue.load()) continue;
        const back = Math.floor(queue.length * one.back);
        const length = queue.length;
        take(length);
        if (back === 0) queue.settle();
        else {
          sent.push((sent.pop() as Buffer).subarray(0, length - back));
          expect(queue.retract(back)).toBe(true);
        }
        continue;
      }
      value = (value + 1) % 256;
      const isPrepared = one.kind === 'prepared';
      const bytes = isPrepared ? memory.bytes.subarray(0, one.bytes) : Buffer.alloc(one.bytes, value);
      wanted.push(Buffer.from(bytes));
      if (isPrepared) queue.push({ bytes, address: memory.addressOf(0, one.bytes) });
      else if (!queue.append(bytes)) queue.push({ bytes, address: 0 });
    }
    while (queue.load()) {
      take(queue.length);
      queue.settle();
    }
    expect(Buffer.concat(sent).equals(Buffer.concat(wanted))).toBe(true);
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 30 }), run));
});

it('holds no memory once everything is sent: the next connection gets the same', () => {
  const addresses = [new SendQueue(), new SendQueue(), new SendQueue()].map((queue) => {
    queue.append(Buffer.alloc(100));
    queue.load();
    const { address } = queue;
    queue.advance(100);
    queue.settle();
    return address;
  });
  expect(new Set(addresses).size).toBe(1);
});

it('does not give back what others may have overwritten', () => {
  const queue = new SendQueue();
  expect(queue.append(Buffer.alloc(blockBytes + 1))).toBe(false);
  queue.append(Buffer.alloc(10));
  queue.load();
  queue.advance(10);
  queue.settle();
  expect(queue.retract(4)).toBe(false);
});
