import type { Approval } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/client.ts';

const pollMs = 5000;
const rows = 20;
const maxRows = 100;
const maxPages = 20;

const read = async (query: { state?: string; count: number; page: number }) => {
  const { cursor, data } = await client.aiAdmin.activity({ query: { kind: 'approval', ...query } });
  return { cursor, data: data as unknown as Approval[] };
};

/** Approval requests, newest first. Polled, because keys wait for the decision. */
export const useApprovals = (state: string | undefined, page: number) =>
  useQuery({
    queryKey: ['aiAdmin', 'approvals', state, page],
    queryFn: () => read({ count: rows, page, ...(state !== undefined && { state }) }),
    refetchInterval: pollMs,
  });

/** The API has no operation for a single approval, so this reads pages until it finds it. */
const findApproval = async (id: number): Promise<Approval | null> => {
  for (let page = 1; page <= maxPages; page += 1) {
    const { cursor, data } = await read({ count: maxRows, page });
    const found = data.find((one) => one.id === id);
    if (found !== undefined) return found;
    if (page >= cursor.totalPages || (data.at(-1)?.id ?? 0) < id) return null;
  }
  return null;
};

export const useApproval = (id: number) =>
  useQuery({
    queryKey: ['aiAdmin', 'approvals', 'one', id],
    queryFn: () => findApproval(id),
    refetchInterval: ({ state }) => (state.data?.state === 'pending' ? pollMs : false),
  });
