import { addressBytesOf, type Frame } from './frame.ts';
import { readWholeDatagram } from './network-layer.ts';
import { insertPiece, type Piece } from './piece-list.ts';
import { readTransportLayer } from './transport-layer.ts';

const MAX_DATAGRAMS = 4096;
const MAX_HELD_BYTES = 16 * 1024 * 1024;
const MAX_PIECES = 1024;
const MAX_DATAGRAM_BYTES = 65_535;
const EXPIRY_MS = 60_000;

interface Datagram {
  readonly pieces: Piece[];
  readonly startedMs: number;
  /** Numbers of the packets that brought the pieces. */
  readonly packets: number[];
  /** -1 until the last fragment arrives. */
  length: number;
  held: number;
}

/** Reassembles IP fragments; evicts the oldest incomplete datagrams at the limits. */
export class FragmentStore {
  /** Packets that carried the fragments of the datagram completed last. */
  completedPackets: readonly number[] = [];
  readonly #datagrams = new Map<string, Datagram>();
  #heldBytes = 0;

  /** Returns true when `frame` completed a datagram and now describes it as a whole. */
  add(frame: Frame, packetNumber: number, nowMs: number): boolean {
    if (frame.captured < frame.transportLength || frame.transportLength === 0) return false;
    const key = keyOf(frame);
    const datagram = this.#datagramOf(key, nowMs);
    const end = frame.fragmentOffset + frame.transportLength;
    if (end > MAX_DATAGRAM_BYTES || datagram.pieces.length >= MAX_PIECES) {
      this.#drop(key, datagram);
      return false;
    }
    const data = frame.bytes.subarray(frame.transportStart, frame.transportStart + frame.transportLength);
    const added = insertPiece(datagram.pieces, { start: frame.fragmentOffset, end, captured: data.length, data });
    datagram.held += added;
    this.#heldBytes += added;
    if (added > 0) datagram.packets.push(packetNumber);
    if (!frame.hasMoreFragments && datagram.length < 0) datagram.length = end;
    if (!isComplete(datagram)) {
      this.#makeRoom();
      return false;
    }
    this.#drop(key, datagram);
    this.completedPackets = datagram.packets;
    present(frame, datagram);
    return true;
  }

  #datagramOf(key: string, nowMs: number): Datagram {
    const found = this.#datagrams.get(key);
    if (found !== undefined && Math.abs(nowMs - found.startedMs) <= EXPIRY_MS) return found;
    if (found !== undefined) this.#drop(key, found);
    const fresh: Datagram = { pieces: [], startedMs: nowMs, packets: [], length: -1, held: 0 };
    this.#datagrams.set(key, fresh);
    return fresh;
  }

  #makeRoom(): void {
    while (this.#datagrams.size > MAX_DATAGRAMS || this.#heldBytes > MAX_HELD_BYTES) {
      const oldest = this.#datagrams.entries().next();
      if (oldest.done) return;
      this.#drop(oldest.value[0], oldest.value[1]);
    }
  }

  #drop(key: string, datagram: Datagram): void {
    this.#datagrams.delete(key);
    this.#heldBytes -= datagram.held;
  }
}

function isComplete(datagram: Datagram): boolean {
  return datagram.held === datagram.length && datagram.pieces.at(-1)?.end === datagram.length;
}

function keyOf(frame: Frame): string {
  const { bytes, source, destination, fragmentId, protocol } = frame;
  const count = addressBytesOf(frame);
  const from = bytes.subarray(source, source + count).join('.');
  const to = bytes.subarray(destination, destination + count).join('.');
  return `${from} ${to} ${fragmentId} ${protocol}`;
}

/** Rebuilds `frame` over a buffer of its own: both addresses, then the whole datagram. */
function present(frame: Frame, datagram: Datagram): void {
  const count = addressBytesOf(frame);
  const whole = new Uint8Array(2 * count + datagram.length);
  whole.set(frame.bytes.subarray(frame.source, frame.source + count), 0);
  whole.set(frame.bytes.subarray(frame.destination, frame.destination + count), count);
  for (const piece of datagram.pieces) if (piece.data !== null) whole.set(piece.data, 2 * count + piece.start);
  frame.bytes = whole;
  frame.end = whole.length;
  frame.source = 0;
  frame.destination = count;
  frame.isFragment = false;
  frame.fragmentOffset = 0;
  frame.hasMoreFragments = false;
  readWholeDatagram(frame, 2 * count, whole.length);
  if (!frame.isFragment) readTransportLayer(frame);
}
