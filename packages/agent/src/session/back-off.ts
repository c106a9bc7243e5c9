const firstMs = 250;
const longestMs = 5000;

/**
 * How long to wait before the next attempt to connect. Doubles up to five seconds and is spread by chance, so that
 * agents that lost their controller together do not return together.
 */
export const backOffMs = (attempt: number, random: () => number = Math.random): number => {
  const longest = Math.min(longestMs, firstMs * 2 ** attempt);
  return firstMs / 2 + random() * (longest - firstMs / 2);
};
