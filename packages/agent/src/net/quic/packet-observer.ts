import { AckTracker } from '@rushhour/wire';
import { requireOpenssl } from '../openssl/library.ts';
import type { QuicConnection } from './quic.ts';
import { QuicSession } from './quic-session.ts';

/** What the packets of a connection tell. */
export interface PacketMeters {
  onSent(): void;
  onLost(count: number): void;
  /** The smoothed round-trip time after an acknowledgement. */
  onRoundTrip(microseconds: number): void;
}

/** What OpenSSL reports: headers of packets before encryption, and frames after decryption. */
const content = { packet: 0x201, frame: 0x202 } as const;
const longHeader = 0x80;
const acknowledgements = [2, 3];
const packetNumberBytes = 4;

const observers = new Map<number, PacketObserver>();
let callback: number | undefined;

const watch = (): number => {
  const openssl = requireOpenssl();
  callback ??= openssl.callback(
    'void RushhourPackets(int isSent, int version, int type, uintptr_t bytes, size_t length, uintptr_t ssl, uintptr_t data)',
    ((isSent: number, _version: number, type: number, bytes: number, length: number, ssl: number): void => {
      if (type !== content.packet && type !== content.frame) return;
      observers
        .get(Number(ssl))
        ?.onContent(isSent === 1, type, new Uint8Array(openssl.view(Number(bytes), Number(length))));
    }) as never,
  );
  return callback;
};

/** Follows the packets of an open connection: OpenSSL has no figures of its own for loss and round-trip times. */
export class PacketObserver {
  readonly #tracker = new AckTracker();
  readonly #meters: PacketMeters;
  readonly #ssl: number;

  constructor(connection: QuicConnection, meters: PacketMeters) {
    this.#meters = meters;
    this.#ssl = connection instanceof QuicSession ? connection.ssl : 0;
    if (this.#ssl === 0) return;
    observers.set(this.#ssl, this);
    requireOpenssl().SSL_set_msg_callback(this.#ssl, watch());
  }

  onContent(isSent: boolean, type: number, bytes: Uint8Array): void {
    const first = bytes[0] ?? 0;
    if (isSent && type === content.packet && first < longHeader) {
      const at = bytes.length - packetNumberBytes;
      this.#tracker.sent(new DataView(bytes.buffer).getUint32(at), performance.now());
      this.#meters.onSent();
    } else if (!isSent && type === content.frame && acknowledgements.includes(first)) this.#acknowledge(bytes);
  }

  /** After the end of the connection. */
  close(): void {
    observers.delete(this.#ssl);
  }

  #acknowledge(bytes: Uint8Array): void {
    const { lost, smoothedMs } = this.#tracker.acknowledge(bytes, performance.now());
    if (lost > 0) this.#meters.onLost(lost);
    if (smoothedMs !== undefined) this.#meters.onRoundTrip(smoothedMs * 1000);
  }
}
