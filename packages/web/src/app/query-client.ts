import { RequestFailed } from '@rushhour/client';
import { QueryClient } from '@tanstack/react-query';

/** What the controller refused will be refused again; what did not arrive is tried again. */
const isWorthTrying = (failures: number, error: unknown) => !(error instanceof RequestFailed) && failures < 3;

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: isWorthTrying, staleTime: 5000, refetchOnWindowFocus: true } },
});
