/**
 * For V8 in processes that make traffic. What happens to a request is many small functions, one calling the other; left
 * alone V8 stops halfway putting them together, which costs three requests in a hundred.
 */
export const engineFlags = ['--max-inlined-bytecode-size=1500', '--max-inlined-bytecode-size-cumulative=4000'] as const;
