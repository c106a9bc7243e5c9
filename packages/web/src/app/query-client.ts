import { RequestFailed } from '@rushhour/client';
import { QueryClient } from '@tanstack/react-query';

/** Repeats requests that got no response; a rejected request would be rejected again. */
const shouldRetry = (failures: number, error: unknown) => !(error instanceof RequestFailed) && failures < 3;

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: shouldRetry, staleTime: 5000, refetchOnWindowFocus: true } },
});
