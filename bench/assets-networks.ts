import { createPreview, type MacLookup, type NetworkDraft, previewPage } from '../packages/pools/src/index.ts';

/** One measurement; it passes when `value` is on the `better` side of `goal`. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly goal: number;
  readonly better: 'lower' | 'higher';
}

const noMacs: MacLookup = new Map();
const small: NetworkDraft = {
  ipVersion: '4',
  subnet: '10.0.0.0/24',
  gateway: '10.0.0.1',
  macPolicy: { mode: 'random', seed: 7 },
};

/** A /64 with 1,000 excludes and 1,000 overrides spread over its range. */
function largeNetwork(): NetworkDraft {
  const hextet = (i: number): string => ((i * 65) % 65_521).toString(16);
  return {
    ipVersion: '6',
    subnet: '2001:db8:1:2::/64',
    gateway: '2001:db8:1:2::1',
    macPolicy: { mode: 'random', seed: 7 },
    excludes: Array.from({ length: 1000 }, (_, i) => `2001:db8:1:2:${hextet(i)}:ff::/112`),
    macOverrides: Array.from({ length: 1000 }, (_, i) => ({
      ip: `2001:db8:1:2:${hextet(i)}::${(i + 2).toString(16)}`,
      mac: `06:00:00:00:0${i >> 8}:${(i & 255).toString(16).padStart(2, '0')}`,
    })),
  };
}

const lastStart = '2001:db8:1:2:ffff:ffff:ffff:ff9c';

/** The fastest of `rounds` runs, in milliseconds: the work is pure computation, so a busy machine can only add to it. */
function fastestMs(rounds: number, work: () => unknown): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < rounds; i++) {
    const startedAt = performance.now();
    work();
    fastest = Math.min(fastest, performance.now() - startedAt);
  }
  return fastest;
}

export async function measureNetworks(): Promise<Measurement[]> {
  const large = largeNetwork();
  const smallPreview = createPreview(small, noMacs);
  const largePreview = createPreview(large, noMacs);
  const last = largePreview.page({ start: lastStart });
  if (last.rows.length !== 100 || last.nextStart !== null) throw new Error('this is not the last page');
  const firstMs = fastestMs(4000, () => smallPreview.page({ page: 1 }));
  const lastMs = fastestMs(4000, () => largePreview.page({ start: lastStart }));
  const wholeMs = fastestMs(200, () => previewPage(large, noMacs, { start: lastStart }));
  return [
    { name: 'networks.lastPageOf64ToFirstPageOf24', value: lastMs / firstMs, goal: 2, better: 'lower' },
    { name: 'networks.lastPageOf64Ms', value: lastMs, goal: 5, better: 'lower' },
    { name: 'networks.lastPageOf64WithReadingTheDraftMs', value: wholeMs, goal: 5, better: 'lower' },
  ];
}

if (import.meta.main) {
  const measurements = await measureNetworks();
  for (const { name, value, goal } of measurements) console.log(`ratio ${name} ${value.toFixed(3)} goal ${goal}`);
  const isShort = measurements.some(({ value, goal, better }) => (better === 'lower' ? value > goal : value < goal));
  process.exitCode = isShort ? 1 : 0;
}
