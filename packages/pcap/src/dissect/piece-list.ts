/** Out-of-order bytes of a stream. `data` holds the first `captured` bytes, or is null. */
export interface Piece {
  start: number;
  end: number;
  captured: number;
  data: Uint8Array | null;
}

/**
 * Puts `piece` into a list sorted by place; what the list already covers wins.
 * Returns how many bytes were new.
 */
export function insertPiece(list: Piece[], piece: Piece): number {
  let from = piece.start;
  let added = 0;
  let index = firstEndingAfter(list, from);
  while (from < piece.end) {
    const next = list[index];
    const to = next === undefined ? piece.end : Math.min(next.start, piece.end);
    if (to > from) {
      list.splice(index, 0, part(piece, from, to));
      added += to - from;
      index++;
    }
    if (next === undefined) break;
    from = Math.max(from, next.end);
    index++;
  }
  return added;
}

function firstEndingAfter(list: readonly Piece[], offset: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as Piece).end > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

function part(piece: Piece, start: number, end: number): Piece {
  const skipped = start - piece.start;
  const captured = Math.min(end - start, Math.max(0, piece.captured - skipped));
  return { start, end, captured, data: piece.data === null ? null : piece.data.slice(skipped, skipped + captured) };
}
