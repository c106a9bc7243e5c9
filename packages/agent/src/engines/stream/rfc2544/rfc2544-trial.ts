import { setTimeout as sleep } from 'node:timers/promises';
import { Histogram, type Rfc2544Plan, type StreamClientConfig } from '@rushhour/protocol';
import type { EngineContext, Samples } from '../../../engine.ts';
import { generatorLoadMetrics } from '../../../net/metrics/generator-load-metrics.ts';
import { prepareStreamClient } from '../client.ts';
import { LinkLost, type TrialInquiry } from './rfc2544-inquiry.ts';
import type { TrialCount } from './rfc2544-message.ts';

type Context = EngineContext<StreamClientConfig>;

export interface TrialOptions {
  readonly frameSize: number;
  /** Frames per second; undefined: as fast as possible. */
  readonly rate: number | undefined;
  /** Instead of the trial duration of the plan. */
  readonly seconds?: number;
  /** Total number of frames, instead of the trial duration. */
  readonly frames?: number;
}

export interface TrialResult extends TrialCount {
  readonly sent: number;
  readonly offeredFps: number;
  readonly arrivedFps: number;
  readonly lossPct: number;
  readonly passed: boolean;
}

export interface TrialParts {
  readonly context: Context;
  readonly plan: Rfc2544Plan;
  readonly inquiry: TrialInquiry;
  readonly nextHopMac: string;
}

const askFirstMs = 5000;
const askAfterMs = 10_000;
// A timer may fire a millisecond early.
const timerSlackMs = 2;

/** Generator limits are reported per trial, so the schedule lag is not recorded for the run. */
const withoutScheduleLag = (samples: Samples): Samples => ({
  counter: (name) => samples.counter(name),
  gauge: (name) => samples.gauge(name),
  histogram: (name) => (name === generatorLoadMetrics.scheduleLag ? new Histogram() : samples.histogram(name)),
  target: (name) => samples.target(name),
});

const contextOf = ({ context, plan, nextHopMac }: TrialParts, options: TrialOptions, over: AbortSignal): Context => {
  const { rfc2544: _, ...config } = context.config;
  const { frameSize, rate, frames, seconds = plan.trialSec } = options;
  const ramps = { rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 };
  return {
    ...context,
    config: {
      ...config,
      sizes: { mix: [{ frameSize, weight: 1 }] },
      load: rate === undefined ? {} : { rate },
      loadUnit: 'pps',
      nextHopMac,
    },
    duration: { mode: frames === undefined ? 'time' : 'count', seconds, count: frames ?? 1, ...ramps },
    signal: AbortSignal.any([context.signal, over]),
    samples: withoutScheduleLag(context.samples),
  };
};

const sentBy = ({ samples, config: { targets } }: Context): number =>
  targets.reduce((sum, { host, port }) => sum + samples.target(`${host}:${port}`).counter('stream.sent').value, 0);

/** Sends the frames of a trial; resolves to their number and the duration. */
const send = async (parts: TrialParts, options: TrialOptions, sender: number) => {
  const { context, plan } = parts;
  const over = new AbortController();
  const client = await prepareStreamClient({ ...contextOf(parts, options, over.signal), sender });
  const linkDown = context.samples.counter('stream.errors.linkDown');
  const before = { sent: sentBy(context), linkDown: linkDown.value, at: performance.now() };
  const isTimed = options.frames === undefined;
  let { seconds = plan.trialSec } = options;
  const timer = isTimed ? setTimeout(() => over.abort(), seconds * 1000 + timerSlackMs) : undefined;
  try {
    await client.start();
    // The duration of a paced trial is the configured one, without the time for ending it.
    if (!isTimed || options.rate === undefined) seconds = (performance.now() - before.at) / 1000;
  } finally {
    clearTimeout(timer);
    await client.close();
  }
  if (linkDown.value > before.linkDown)
    throw new LinkLost('the link went down during a trial, which then says nothing');
  return { sent: sentBy(context) - before.sent, seconds };
};

/** Runs one trial; undefined when the run ended meanwhile. */
export const runTrial = async (
  parts: TrialParts,
  options: TrialOptions,
  tag: number,
): Promise<TrialResult | undefined> => {
  const { context, plan, inquiry } = parts;
  const { signal } = context;
  if ((await inquiry.ask({ asks: 'begin', tag }, askFirstMs, signal)) === undefined) return undefined;
  const { sent, seconds } = await send(parts, options, tag);
  await sleep(plan.settleSec * 1000, undefined, { signal }).catch(() => {});
  const count = await inquiry.ask({ asks: 'count', tag }, askAfterMs, signal);
  if (count === undefined) return undefined;
  const lossPct = sent === 0 ? 100 : Math.max(0, ((sent - count.received) / sent) * 100);
  return {
    ...count,
    sent,
    offeredFps: sent / seconds,
    arrivedFps: count.received / seconds,
    lossPct,
    passed: sent > 0 && lossPct <= plan.acceptableLossPct,
  };
};
