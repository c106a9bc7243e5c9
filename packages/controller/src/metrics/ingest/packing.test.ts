import { Histogram, type Summary } from '@rushhour/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameBook } from './name-book.ts';
import { packSeconds, unpackSeconds } from './packing.ts';

const name = fc.oneof(
  fc.constantFrom('http.requests', 'http.latency', 'agent.cpuPct', 'http.status.200'),
  fc.string({ maxLength: 8 }).filter((text) => text !== '__proto__'),
);
const value = fc.oneof(
  fc.nat(),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }),
);
const histogram = fc.array(fc.nat(4_294_967_295), { maxLength: 40 }).map((numbers) => {
  const made = new Histogram();
  for (const number of numbers) made.record(number);
  return made.toBase64();
});
const series = fc.record(
  {
    target: fc.oneof(fc.constantFrom('', '10.0.0.1:80', '10.0.0.2:80'), fc.string({ maxLength: 12 })),
    counters: fc.dictionary(name, value, { noNullPrototype: true, maxKeys: 6 }),
    gauges: fc.dictionary(name, value, { noNullPrototype: true, maxKeys: 4 }),
    histograms: fc.dictionary(name, histogram, { noNullPrototype: true, maxKeys: 6 }),
  },
  { noNullPrototype: true },
);
const second = fc.record(
  {
    at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
    spanMs: fc.double({ min: 0.001, max: 1e6, noNaN: true }),
    phase: fc.constantFrom('warmUp', 'rampUp', 'steady', 'rampDown', 'windDown'),
    series: fc.array(series, { maxLength: 4 }),
  },
  { noNullPrototype: true },
);
const seqs = fc.uniqueArray(fc.oneof(fc.nat(50), fc.nat(1e9)), { maxLength: 12 });
const summaries = fc
  .tuple(seqs, fc.array(second, { minLength: 12, maxLength: 12 }))
  .map(([numbers, seconds]) => numbers.toSorted((a, b) => a - b).map((seq, i) => ({ seq, ...seconds[i] }) as Summary));

describe('packing', () => {
  it('gives back exactly what was packed', () => {
    fc.assert(
      fc.property(summaries, (given) => {
        const book = new NameBook();
        const packed = packSeconds(given.map((summary) => book.secondOf(summary)));
        const known = new NameBook(book.fresh);
        expect(unpackSeconds(packed).map((one) => known.summaryOf(one))).toStrictEqual(given);
      }),
      { numRuns: 200 },
    );
  });

  it('reads the wanted metrics alone as it reads all of them', () => {
    fc.assert(
      fc.property(summaries, (given) => {
        const book = new NameBook();
        const packed = packSeconds(given.map((summary) => book.secondOf(summary)));
        const all = unpackSeconds(packed);
        for (const wanted of book.metrics.keys()) {
          const only = unpackSeconds(packed, (metric) => metric === wanted);
          for (const [i, { parts }] of only.entries()) {
            for (const [j, { scalars, histograms }] of parts.entries()) {
              expect([...scalars.keys(), ...histograms.keys()].filter((metric) => metric !== wanted)).toEqual([]);
              expect(scalars.get(wanted)).toBe(all[i]?.parts[j]?.scalars.get(wanted));
              expect(histograms.get(wanted)).toEqual(all[i]?.parts[j]?.histograms.get(wanted));
            }
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('takes a second of a web client in a fraction of its JSON', () => {
    const latency = new Histogram();
    for (let i = 0; i < 2000; i += 1) latency.record(400 + ((i * 7919) % 3000));
    const summary: Summary = {
      seq: 1,
      at: 1_790_000_000_000,
      spanMs: 1000,
      phase: 'steady',
      series: [
        {
          target: '10.0.0.1:80',
          counters: { 'http.requests': 2000, 'http.responses': 2000, 'http.ok': 2000, 'http.txBytes': 120_000 },
          gauges: { 'http.concurrent': 20 },
          histograms: { 'http.latency': latency.toBase64() },
        },
      ],
    };
    const packed = packSeconds([new NameBook().secondOf(summary)]);
    expect(packed.length).toBeLessThan(latency.toBytes().length + 60);
  });

  it('refuses seconds that are not in order and bytes that are cut off', () => {
    const book = new NameBook();
    const at = (seq: number): Summary => ({
      seq,
      at: seq,
      spanMs: 1,
      phase: 'steady',
      series: [{ target: '', counters: { a: 300 }, gauges: {}, histograms: {} }],
    });
    expect(() => packSeconds([book.secondOf(at(3)), book.secondOf(at(1))])).toThrow(/in order/);
    const packed = packSeconds([book.secondOf(at(1)), book.secondOf(at(2))]);
    for (let length = 0; length < packed.length; length += 1) {
      expect(() => unpackSeconds(packed.subarray(0, length))).toThrow(RangeError);
    }
  });
});
