const firstMs = 250;
const longestMs = 5000;

/**
 * Delay before the next connection attempt: doubles up to 5 s, with random jitter so that agents do not reconnect at
 * the same time.
 */
export const backOffMs = (attempt: number, random: () => number = Math.random): number => {
  const longest = Math.min(longestMs, firstMs * 2 ** attempt);
  return firstMs / 2 + random() * (longest - firstMs / 2);
};
