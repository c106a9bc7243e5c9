const monotonicNow = (): number => performance.timeOrigin + performance.now();

let base = Date.now() - monotonicNow();

/**
 * Milliseconds since 1970, monotonic: all time of runs. Setting the system clock changes it only while no run is active,
 * see `followSystemClock`.
 */
export const clockNow = (): number => base + monotonicNow();

export const clockNowIso = (): string => new Date(clockNow()).toISOString();

/** How far the system clock has been set since the clock of runs last followed it. */
export const systemClockStepMs = (): number => Date.now() - clockNow();

/** Call only while no run is active. */
export const followSystemClock = (): void => {
  base = Date.now() - monotonicNow();
};
