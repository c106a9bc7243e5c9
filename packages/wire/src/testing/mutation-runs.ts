/** Mutated packets that a test tries: so many, or as many as `MUTATIONS` of the environment says. */
export const mutationRuns = (short: number): number => Number(process.env['MUTATIONS'] ?? short);
