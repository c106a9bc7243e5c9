import type { SummedBytes } from './summed-bytes.ts';

/** A run of bytes in a list: of a message to be sent, or of data that came too early. */
export class Piece {
  bytes: Uint8Array;
  start = 0;
  end = 0;
  /** Sequence number of the first byte, where the owner needs it. */
  seq = 0;
  next: Piece | undefined = undefined;
  /** The bytes with their sums, where those are known. */
  summed: SummedBytes | undefined = undefined;
  /** True if the bytes belong to the pool and not to the caller. */
  readonly isOwned: boolean;

  constructor(bytes: Uint8Array, isOwned: boolean) {
    this.bytes = bytes;
    this.isOwned = isOwned;
  }
}

const nothing = new Uint8Array(0);

/** Recycles pieces: with memory of their own, or pointing to bytes of the caller. */
export class PiecePool {
  readonly pieceBytes: number;
  readonly maxOwned: number;
  /** Pieces that are taken and not yet returned. */
  inUse = 0;
  ownedInUse = 0;
  #owned: Piece | undefined = undefined;
  #references: Piece | undefined = undefined;

  constructor({ pieceBytes, maxOwned }: { pieceBytes: number; maxOwned: number }) {
    this.pieceBytes = pieceBytes;
    this.maxOwned = maxOwned;
  }

  /** An empty piece with `pieceBytes` of room; undefined when the limit is reached. */
  takeOwned(): Piece | undefined {
    if (this.ownedInUse >= this.maxOwned) return undefined;
    const piece = this.#owned ?? new Piece(new Uint8Array(this.pieceBytes), true);
    this.#owned = piece.next;
    piece.next = undefined;
    piece.start = 0;
    piece.end = 0;
    this.inUse++;
    this.ownedInUse++;
    return piece;
  }

  /** A piece that points to the caller's bytes, which must not change until it is released. */
  takeReference(bytes: Uint8Array, start: number, end: number): Piece {
    const piece = this.#references ?? new Piece(nothing, false);
    this.#references = piece.next;
    piece.next = undefined;
    piece.bytes = bytes;
    piece.start = start;
    piece.end = end;
    this.inUse++;
    return piece;
  }

  release(piece: Piece): void {
    this.inUse--;
    if (piece.isOwned) {
      this.ownedInUse--;
      piece.next = this.#owned;
      this.#owned = piece;
    } else {
      piece.bytes = nothing;
      piece.summed = undefined;
      piece.next = this.#references;
      this.#references = piece;
    }
  }
}
