import type { SessionCause } from '../causes.ts';
import type { PacketSink } from '../frames.ts';
import type { LineDirectory } from '../lines.ts';
import type { SessionTimers } from '../timers.ts';
import type { DuidKind } from './client-id.ts';

export interface Dhcpv6ClientOptions {
  readonly timeoutMs: number;
  /** Messages of one kind without an answer before the session fails. */
  readonly retries: number;
  readonly wantsAddress: boolean;
  readonly wantsPrefix: boolean;
  /** Length of the prefix that is asked for. */
  readonly prefixLength: number;
  readonly rapidCommit: boolean;
  /** Servers may ask sessions to renew their leases. */
  readonly reconfigure?: boolean;
  readonly duid: DuidKind;
  /** Seconds since 2000, for identifiers that have a time. */
  readonly duidTimeSec: number;
  /** The access node wraps messages as a lightweight relay (RFC 6221). */
  readonly relay?:
    | {
        readonly interfaceId: (session: number) => Uint8Array;
        readonly remoteId: (session: number) => Uint8Array;
      }
    | undefined;
}

export interface Dhcpv6ClientHost {
  readonly frames: PacketSink;
  readonly lines: LineDirectory & { readonly count: number };
  readonly timers: SessionTimers;
  readonly random: () => number;
  /** Writes the link-local address of a session; left out: that of its MAC. */
  writeOwn?(session: number, words: Int32Array): void;
  /** A lease is obtained; false: it was renewed. */
  onBound(session: number, isNew: boolean): void;
  onFailed(session: number, cause: SessionCause): void;
}
