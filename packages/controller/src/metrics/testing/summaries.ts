import { Histogram, type Phase, type Summary } from '@rushhour/protocol';

/** The same numbers at every run. */
export const createRandom = (seed = 1) => {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};

type Random = () => number;

const normal = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Times with a long tail around a median in microseconds, as those of real servers have. */
export const histogramOf = (random: Random, count: number, medianUs: number, spread: number) => {
  const histogram = new Histogram();
  for (let i = 0; i < count; i += 1) histogram.record(medianUs * Math.exp(spread * normal(random)));
  return histogram;
};

export interface SecondOf {
  seq: number;
  /** Common start; the second ends `seq` seconds later. */
  t0: number;
  phase?: Phase;
  target?: string;
  counters?: Record<string, number>;
  gauges?: Record<string, number>;
  histograms?: Record<string, Histogram>;
  spanMs?: number;
}

/** One second as an engine reports it: what concerns the target apart from what concerns the generator. */
export const summaryOf = ({ seq, t0, phase = 'steady', target = '10.0.0.1:80', spanMs = 1000, ...given }: SecondOf) => {
  const { counters = {}, gauges = {}, histograms = {} } = given;
  const summary: Summary = {
    seq,
    at: t0 + seq * 1000,
    spanMs,
    phase,
    series: [
      {
        target,
        counters,
        gauges: {},
        histograms: Object.fromEntries(Object.entries(histograms).map(([name, one]) => [name, one.toBase64()])),
      },
      { target: '', counters: {}, gauges, histograms: {} },
    ],
  };
  return summary;
};

const kindsOfHistogram = {
  'agent.scheduleLag': { share: 1, medianUs: 100, spread: 0.8 },
  'http.latency': { share: 1, medianUs: 900, spread: 0.6 },
  'http.service': { share: 1, medianUs: 700, spread: 0.5 },
  'http.ttfb': { share: 1, medianUs: 650, spread: 0.5 },
  'http.connect': { share: 0.1, medianUs: 300, spread: 0.4 },
  'http.tls': { share: 0.1, medianUs: 2000, spread: 0.3 },
} as const;

/**
 * Seconds of web clients at work: counters, gauges and two to six histograms of 2,000 requests each. Histograms are
 * drawn from `variety` different ones of each kind, because making them costs more than taking them in.
 */
export const createHttpSeconds = (random: Random, variety: number) => {
  const requestsPerSecond = 2000;
  const drawers = Object.entries(kindsOfHistogram).map(([name, { share, medianUs, spread }]) => {
    const made = Array.from({ length: variety }, () =>
      histogramOf(random, requestsPerSecond * share, medianUs, spread).toBase64(),
    );
    return { name, draw: () => made[Math.floor(random() * variety)] as string };
  });
  return ({ seq, t0, kinds }: { seq: number; t0: number; kinds: number }): Summary => {
    const requests = requestsPerSecond - 50 + Math.round(random() * 100);
    const failures = random() < 0.05 ? Math.ceil(random() * 4) : 0;
    const summary = summaryOf({
      seq,
      t0: t0 + Math.round(normal(random) * 2),
      spanMs: 1000 + Math.round(normal(random) * 2),
      counters: {
        'http.requests': requests,
        'http.responses': requests - failures,
        'http.ok': requests - failures,
        'http.txBytes': requests * 60,
        'http.rxBytes': requests * 1062,
        'http.connections': 20 + Math.round(random() * 10),
        'http.status.200': requests - failures,
        ...(failures > 0 && { 'http.ko': failures, 'http.errors.timeout': failures }),
      },
      gauges: {
        'http.concurrent': 20,
        'http.targetLoad': 2000,
        'agent.cpuPct': 70 + random() * 10,
        'agent.loopLagMs': random() * 3,
        'agent.scheduleLagMs': random(),
      },
    });
    for (const { name, draw } of drawers.slice(0, kinds)) {
      const series = summary.series[name.startsWith('agent.') ? 1 : 0];
      if (series) series.histograms[name] = draw();
    }
    return summary;
  };
};
