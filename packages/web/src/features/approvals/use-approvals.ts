import type { Approval } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/client.ts';

const pollMs = 5000;
const rows = 20;
const most = 100;
const mostPages = 20;

const read = async (query: { state?: string; count: number; page: number }) => {
  const { cursor, data } = await client.aiAdmin.activity({ query: { kind: 'approval', ...query } });
  return { cursor, data: data as unknown as Approval[] };
};

/** What keys asked for, newest first; looked at again by itself, because keys wait. */
export const useApprovals = (state: string | undefined, page: number) =>
  useQuery({
    queryKey: ['aiAdmin', 'approvals', state, page],
    queryFn: () => read({ count: rows, page, ...(state !== undefined && { state }) }),
    refetchInterval: pollMs,
  });

/** There is no operation for a single one: the pages are gone through until it is found. */
const findApproval = async (id: number): Promise<Approval | null> => {
  for (let page = 1; page <= mostPages; page += 1) {
    const { cursor, data } = await read({ count: most, page });
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
