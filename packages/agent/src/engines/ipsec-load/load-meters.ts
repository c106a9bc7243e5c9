import type { IkeCause } from '@rushhour/wire';
import type { Samples } from '../../engine.ts';

/** Metrics of IKE load. */
export class LoadMeters {
  readonly started;
  readonly completed;
  readonly recycled;
  readonly cookies;
  readonly retransmits;
  readonly halfOpen;
  readonly poolUsed;
  readonly exchange;
  readonly handshake;
  readonly #failed;
  readonly #samples: Samples;

  constructor(samples: Samples) {
    this.#samples = samples;
    this.started = samples.counter('ipsec-load.started');
    this.completed = samples.counter('ipsec-load.completed');
    this.#failed = samples.counter('ipsec-load.failed');
    this.recycled = samples.counter('ipsec-load.recycled');
    this.cookies = samples.counter('ipsec-load.cookies');
    this.retransmits = samples.counter('ipsec-load.retransmits');
    this.halfOpen = samples.gauge('ipsec-load.halfOpen');
    this.poolUsed = samples.gauge('ipsec-load.poolUsed');
    this.exchange = samples.histogram('ipsec-load.exchange');
    this.handshake = samples.histogram('ipsec-load.handshake');
  }

  onFailed(cause: IkeCause): void {
    this.#failed.add(1);
    this.onError(cause);
  }

  /** The name of a notification, or why this side gave up. */
  onError(cause: IkeCause): void {
    this.#samples.counter(`ipsec-load.errors.${cause}`).add(1);
  }
}
