import { SegmentedControl } from '@mantine/core';
import type { Approval } from '@rushhour/contract';
import { Link } from '@tanstack/react-router';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ListPage } from '../../components/page.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { ApprovalState, RiskBadge } from './approval-badges.tsx';
import { useApprovals } from './use-approvals.ts';

const { approvals: words } = text;
const { columns: headers } = words;

const columns: readonly DataColumn<Approval>[] = [
  {
    header: headers.request,
    cell: ({ id }) => (
      <Link to="/approvals/$id" params={{ id: String(id) }}>
        {words.title(id)}
      </Link>
    ),
  },
  { header: headers.action, cell: ({ action, plan }) => `${action}: ${plan.summary}` },
  { header: headers.risk, cell: ({ risk }) => <RiskBadge risk={risk} /> },
  { header: headers.status, cell: ({ state }) => <ApprovalState state={state} /> },
  { header: headers.requested, cell: ({ createdAt }) => <TimeText at={createdAt} /> },
  { header: headers.expires, cell: ({ expiresAt }) => <TimeText at={expiresAt} /> },
];

/** Requests of AI keys that need a decision. */
export const ApprovalsPage = () => {
  const { page, text: read, filter, set } = usePageSearch();
  const state = read('state') === 'all' ? undefined : 'pending';
  const { data, error } = useApprovals(state, page);
  return (
    <ListPage
      title={text.nav.approvals}
      filters={
        <SegmentedControl
          aria-label={text.nav.approvals}
          data={[
            { value: 'pending', label: words.pending },
            { value: 'all', label: words.all },
          ]}
          value={state ?? 'all'}
          onChange={(next) => filter({ state: next })}
        />
      }
      list={data}
      error={error}
      empty={state === undefined ? words.none : words.nonePending}
      page={page}
      onPage={(next) => set({ page: next })}
    >
      {(rows) => <DataTable columns={columns} rows={rows} keyOf={({ id }) => id} minWidth={640} />}
    </ListPage>
  );
};
