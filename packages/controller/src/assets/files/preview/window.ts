/** Which rows of a preview are wanted. */
export interface PreviewWindow {
  /** Rows passed over. */
  readonly start: number;
  /** 1 to 200. */
  readonly limit: number;
}

/** Collects the rows of a window out of rows that come in order. */
export const createWindow = <Row>({ start, limit }: PreviewWindow) => {
  const rows: Row[] = [];
  let seen = 0;
  let hasMore = false;
  return {
    rows,
    /** Whether the next row is inside the window; others need not be built. */
    wantsNext: () => seen >= start,
    /** False when no further row is needed. */
    add: (row: Row): boolean => {
      if (seen++ < start) return true;
      hasMore = rows.length >= limit;
      if (!hasMore) rows.push(row);
      return !hasMore;
    },
    hasMore: () => hasMore,
  };
};

/** Limits the length of a text in a reply. */
export const shorten = (text: string, letters: number) => (text.length > letters ? `${text.slice(0, letters)}…` : text);
