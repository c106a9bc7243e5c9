import type { Histogram } from '@rushhour/protocol';
import type { Counter, Samples } from '../../../engine.ts';

/** Metrics of one step. Latencies are in microseconds. */
export class StepMeters {
  readonly requests: Counter;
  readonly errors: Counter;
  readonly checksFailed: Counter;
  readonly latency: Histogram;

  /** `name`: of the journey and of the step. */
  constructor(samples: Samples, name: string) {
    this.requests = samples.counter(`http.stepRequests.${name}`);
    this.errors = samples.counter(`http.stepErrors.${name}`);
    this.checksFailed = samples.counter(`http.stepChecksFailed.${name}`);
    this.latency = samples.histogram(`http.stepLatency.${name}`);
  }
}

/** Metrics of one journey. */
export class JourneyMeters {
  readonly iterations: Counter;
  readonly failed: Counter;
  readonly time: Histogram;

  constructor(samples: Samples, name: string) {
    this.iterations = samples.counter(`http.journeyIterations.${name}`);
    this.failed = samples.counter(`http.journeyFailed.${name}`);
    this.time = samples.histogram(`http.journeyTime.${name}`);
  }
}
