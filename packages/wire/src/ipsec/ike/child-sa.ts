import { EspInbound, EspOutbound } from '../esp/esp-sa.ts';
import type { CipherKeys, IpsecCrypto } from './crypto.ts';
import type { TrafficSelector } from './messages/payloads.ts';
import type { Suite } from './messages/suites.ts';

export type ChildState = 'installed' | 'rekeying' | 'rekeyed' | 'deleting' | 'deleted';

export interface ChildOptions {
  /** SPI that the peer puts into its packets. */
  readonly inboundSpi: number;
  readonly outboundSpi: number;
  readonly suite: Suite;
  readonly inboundKeys: CipherKeys;
  readonly outboundKeys: CipherKeys;
  readonly local: readonly TrafficSelector[];
  readonly remote: readonly TrafficSelector[];
  readonly isTransport: boolean;
  readonly replayWindow: number;
  /** Index among the child SAs that are configured for the peer. */
  readonly index: number;
  /** This side asked for it. */
  readonly isInitiator: boolean;
  readonly nowMs: number;
}

/** A pair of ESP SAs. */
export class ChildSa {
  readonly inbound: EspInbound;
  readonly outbound: EspOutbound;
  readonly suite: Suite;
  /** Until the owner has been notified. */
  keys: { readonly inbound: CipherKeys; readonly outbound: CipherKeys } | undefined;
  readonly local: readonly TrafficSelector[];
  readonly remote: readonly TrafficSelector[];
  readonly isTransport: boolean;
  readonly index: number;
  readonly isInitiator: boolean;
  readonly createdMs: number;
  state: ChildState = 'installed';
  rekeys = 0;
  rekeyAt = Number.POSITIVE_INFINITY;
  expireAt = Number.POSITIVE_INFINITY;
  /** The peer has begun to replace it too: its new SA and the lower nonce of that exchange. */
  collision: { readonly child: ChildSa; readonly nonce: Uint8Array } | undefined;

  constructor(crypto: IpsecCrypto, options: ChildOptions) {
    const { suite } = options;
    this.suite = suite;
    this.keys = { inbound: options.inboundKeys, outbound: options.outboundKeys };
    this.local = options.local;
    this.remote = options.remote;
    this.isTransport = options.isTransport;
    this.index = options.index;
    this.isInitiator = options.isInitiator;
    this.createdMs = options.nowMs;
    this.inbound = new EspInbound({
      spi: options.inboundSpi,
      cipher: crypto.createCipher(suite, options.inboundKeys),
      hasEsn: suite.hasEsn,
      window: options.replayWindow,
    });
    this.outbound = new EspOutbound({
      spi: options.outboundSpi,
      cipher: crypto.createCipher(suite, options.outboundKeys),
      hasEsn: suite.hasEsn,
    });
  }
}
