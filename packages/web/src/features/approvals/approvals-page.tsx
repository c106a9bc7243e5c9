import { Pagination, SegmentedControl, Skeleton, Stack, Table, Title } from '@mantine/core';
import type { Approval } from '@rushhour/contract';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { EmptyState, Guarded } from '../../components/page-states.tsx';
import { Problem } from '../../components/problem.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { text } from '../../lib/text.ts';
import { ApprovalState, RiskBadge } from './approval-badges.tsx';
import { useApprovals } from './use-approvals.ts';

const { approvals: words } = text;

/** What AI keys ask people for. */
export const ApprovalsPage = () => (
  <Guarded needs={['aiAdmin', 'activity']}>
    <Approvals />
  </Guarded>
);

const Approvals = () => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const state = search['state'] === 'all' ? undefined : 'pending';
  const page = Number(search['page'] ?? 1);
  const { data, error } = useApprovals(state, page);
  const go = (members: object) => void navigate({ to: '.', search: { ...search, ...members } as never, replace: true });
  return (
    <Stack>
      <Title order={1} size="h2">
        {text.nav.approvals}
      </Title>
      <SegmentedControl
        aria-label={text.nav.approvals}
        data={[
          { value: 'pending', label: words.pending },
          { value: 'all', label: words.all },
        ]}
        value={state ?? 'all'}
        onChange={(next) => go({ state: next, page: undefined })}
        style={{ alignSelf: 'flex-start' }}
      />
      {error && <Problem error={error} />}
      {data === undefined && !error && <Skeleton height={240} />}
      {data?.data.length === 0 && <EmptyState title={state === undefined ? words.none : words.nonePending} />}
      {data && data.data.length > 0 && <ApprovalTable approvals={data.data} />}
      {data && data.cursor.totalPages > 1 && (
        <Pagination
          total={data.cursor.totalPages}
          value={page}
          onChange={(next) => go({ page: next })}
          getControlProps={(control) => ({ 'aria-label': control })}
        />
      )}
    </Stack>
  );
};

const ApprovalTable = ({ approvals }: { approvals: readonly Approval[] }) => (
  <Table.ScrollContainer minWidth={640}>
    <Table verticalSpacing="xs" className="numbers">
      <Table.Thead>
        <Table.Tr>
          {words.columns.map((name) => (
            <Table.Th key={name}>{name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {approvals.map(({ id, action, plan, risk, state, createdAt, expiresAt }) => (
          <Table.Tr key={id}>
            <Table.Td>
              <Link to="/approvals/$id" params={{ id: String(id) }}>
                {words.title(id)}
              </Link>
            </Table.Td>
            <Table.Td>
              {action}: {plan.summary}
            </Table.Td>
            <Table.Td>
              <RiskBadge risk={risk} />
            </Table.Td>
            <Table.Td>
              <ApprovalState state={state} />
            </Table.Td>
            <Table.Td>
              <TimeText at={createdAt} />
            </Table.Td>
            <Table.Td>
              <TimeText at={expiresAt} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
