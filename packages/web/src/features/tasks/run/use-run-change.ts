import type { RunChange, RunResult } from '@rushhour/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useToasts } from '../../../components/toasts.tsx';
import { client } from '../../../lib/client.ts';

/** Changes note, labels or pin of a run. */
export const useRunChange = ({ id, taskID }: RunResult) => {
  const queries = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: (change: Omit<RunChange, 'id'>) =>
      client.tasks.update({ body: { id: taskID, runs: [{ id, ...change }] } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
    onError: (error) => toasts.problem(error),
  });
};
