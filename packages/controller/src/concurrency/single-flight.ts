/** Work that is done once at a time: whoever asks while it is under way gets another turn right after it. */
export const createSingleFlight = (work: () => Promise<void>, onError: (error: unknown) => void) => {
  let present: Promise<void> | undefined;
  let isAskedAgain = false;
  let isClosed = false;

  const ask = (): Promise<void> => {
    isAskedAgain = present !== undefined;
    present ??= work()
      .catch(onError)
      .finally(() => {
        present = undefined;
        if (isAskedAgain && !isClosed) void ask();
      });
    return present;
  };
  return {
    ask,
    isBusy: () => present !== undefined,
    open: () => {
      isClosed = false;
    },
    /** Resolves when nothing is under way any more. */
    close: async () => {
      isClosed = true;
      await present;
    },
  };
};
