/** The same in all processes of the machine. */
const monotonicOrigin = Number(process.hrtime.bigint()) / 1e6 - performance.now();
const monotonicNow = (): number => monotonicOrigin + performance.now();

/** Difference to the monotonic clock. The process of a run gets it from the agent, so that both have the same time. */
const baseVariable = 'RUSHHOUR_CLOCK_BASE';
const base = Number(process.env[baseVariable]) || Date.now() - monotonicNow();
export const clockEnvironment: Readonly<Record<string, string>> = { [baseVariable]: String(base) };

/**
 * Milliseconds since 1970 as the system clock showed them when the agent started, then monotonic: all time of runs.
 * Setting the system clock does not change it.
 */
export const clockNow = (): number => base + monotonicNow();

/** How far the system clock has been set since the agent started. */
export const systemClockStepMs = (): number => Date.now() - clockNow();
