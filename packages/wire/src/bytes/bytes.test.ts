import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksumOf, isSumValid, sumBytes, updateChecksum } from './checksum.ts';
import { KeyTable } from './key-table.ts';
import { KeyedHash } from './keyed-hash.ts';
import { bytesOfHex, Memory } from './memory.ts';
import { PiecePool } from './piece-pool.ts';
import { SummedBytes } from './summed-bytes.ts';
import { TimerWheel } from './timer-wheel.ts';

const plainSum = (bytes: Uint8Array): number => {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += ((bytes[i] as number) << 8) | (bytes[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return sum;
};

describe('checksums', () => {
  it('are those of the example of RFC 1071', () => {
    const memory = new Memory(bytesOfHex('0001 f203 f4f5 f6f7'));
    expect(sumBytes(memory, 0, 8)).toBe(0xddf2);
  });

  it('equal a plain sum for any bytes at any offset', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(40), (bytes, start) => {
        const from = Math.min(start, bytes.length);
        const sum = sumBytes(new Memory(bytes), from, bytes.length);
        expect(sum % 0xffff).toBe(plainSum(bytes.subarray(from)) % 0xffff);
      }),
    );
  });

  it('hold 64 KiB of ones', () => {
    expect(isSumValid(sumBytes(new Memory(new Uint8Array(65_536).fill(255)), 0, 65_536))).toBe(true);
  });

  it('of parts of summed bytes are as if each part were summed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1000 }), fc.nat(1000), fc.nat(1000), (bytes, one, other) => {
        const [start = 0, end = 0] = [one, other].map((at) => Math.min(at, bytes.length)).toSorted((a, b) => a - b);
        expect(new SummedBytes(bytes).sumOf(start, end)).toBe(sumBytes(new Memory(bytes), start, end));
      }),
      { numRuns: 1000 },
    );
    // The sums of blocks run over 32 bits.
    const ones = new Uint8Array(200_000).fill(255);
    const summed = new SummedBytes(ones);
    for (const start of [0, 1, 63, 134_465]) expect(summed.sumOf(start, start + 65_535)).toBe(0xff00);
  });

  it('change with one word as if everything were summed again', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.nat(9), fc.nat(0xffff), (bytes, index, value) => {
        const memory = new Memory(bytes);
        const before = memory.view.getUint16(index * 2);
        const checksum = checksumOf(sumBytes(memory, 0, 20));
        memory.view.setUint16(index * 2, value);
        const after = checksumOf(sumBytes(memory, 0, 20));
        expect(updateChecksum(checksum, before, value) % 0xffff).toBe(after % 0xffff);
      }),
    );
  });
});

describe('the key table', () => {
  it('agrees with a map over random additions and removals', () => {
    const key = fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 20 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), key), { maxLength: 300 }), (steps) => {
        const table = new KeyTable({ width: 2, seed: 5 });
        const model = new Map<string, number>();
        for (const [isAdded, words] of steps) {
          const name = words.join();
          const array = Int32Array.from(words);
          if (isAdded && !model.has(name)) model.set(name, table.add(array, 0));
          else if (!isAdded && model.has(name)) {
            table.remove(model.get(name) as number);
            model.delete(name);
          }
          expect(table.find(array, 0)).toBe(model.get(name) ?? -1);
        }
        expect(table.count).toBe(model.size);
        expect(new Set(model.values()).size).toBe(model.size);
      }),
    );
  });
});

describe('the timing wheel', () => {
  it('fires each timer once, never early and in order of time', () => {
    const timer = fc.tuple(fc.nat(40), fc.oneof(fc.nat(600), fc.nat(100_000), fc.nat(20_000_000)));
    fc.assert(
      fc.property(fc.array(timer, { maxLength: 60 }), fc.array(fc.nat(100_000), { maxLength: 30 }), (timers, moves) => {
        const wheel = new TimerWheel(100, 4);
        const due = new Map<number, number>();
        for (const [id, ahead] of timers) {
          wheel.set(id, 100 + ahead);
          due.set(id, Math.max(100 + ahead, 101));
        }
        let now = 100;
        for (const move of moves) {
          now += move;
          wheel.advance(now, (id) => {
            expect(due.get(id)).toBeLessThanOrEqual(now);
            due.delete(id);
          });
          for (const tick of due.values()) expect(tick).toBeGreaterThan(now);
          const next = wheel.nextDue(1000);
          for (const tick of due.values()) expect(tick).toBeGreaterThanOrEqual(next);
        }
        expect(wheel.count).toBe(due.size);
      }),
    );
  });

  it('lets timers be cleared and set while it fires', () => {
    const wheel = new TimerWheel(0);
    const fired: number[] = [];
    for (const id of [1, 2, 3]) wheel.set(id, 10);
    wheel.advance(20, (id) => {
      fired.push(id);
      wheel.clear(2);
      if (fired.length < 4) wheel.set(7, 15);
    });
    expect(fired).toEqual([3, 1, 7, 7]);
  });
});

describe('the piece pool', () => {
  it('keeps to its limit and counts what is out', () => {
    const pool = new PiecePool({ pieceBytes: 16, maxOwned: 2 });
    const pieces = [pool.takeOwned(), pool.takeOwned(), pool.takeOwned()];
    expect(pieces[2]).toBeUndefined();
    const reference = pool.takeReference(new Uint8Array(4), 0, 4);
    expect(pool.inUse).toBe(3);
    for (const piece of [...pieces, reference]) if (piece !== undefined) pool.release(piece);
    expect([pool.inUse, pool.ownedInUse]).toEqual([0, 0]);
  });
});

describe('the keyed hash', () => {
  it('depends on every word and on the key', () => {
    const words = Int32Array.from([1, 2, 3, 4]);
    const hash = new KeyedHash(11, 22);
    const values = new Set([
      hash.of(words, 0, 4, 0),
      hash.of(words, 0, 4, 1),
      new KeyedHash(11, 23).of(words, 0, 4, 0),
    ]);
    for (let i = 0; i < 4; i++) {
      const other = words.slice();
      other[i] = (other[i] as number) ^ 1;
      values.add(hash.of(other, 0, 4, 0));
    }
    expect(values.size).toBe(7);
  });
});
