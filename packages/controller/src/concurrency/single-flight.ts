/** Runs `work` one at a time. A request during a run starts one more run right after it. */
export const createSingleFlight = (work: () => Promise<void>, onError: (error: unknown) => void) => {
  let current: Promise<void> | undefined;
  let isRequestedAgain = false;
  let isClosed = false;

  const request = (): Promise<void> => {
    isRequestedAgain = current !== undefined;
    current ??= work()
      .catch(onError)
      .finally(() => {
        current = undefined;
        if (isRequestedAgain && !isClosed) void request();
      });
    return current;
  };
  return {
    request,
    isBusy: () => current !== undefined,
    open: () => {
      isClosed = false;
    },
    /** Resolves when no work is running. */
    close: async () => {
      isClosed = true;
      await current;
    },
  };
};
