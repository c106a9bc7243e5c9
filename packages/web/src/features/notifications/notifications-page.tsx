import { Badge, Button, Text } from '@mantine/core';
import type { Notification } from '@rushhour/contract';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ListPage } from '../../components/page.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { sessionKey } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';

const { notifications: words } = text;
const colors = { info: 'blue', warning: 'yellow', error: 'red' } as const;

const columns: readonly DataColumn<Notification>[] = [
  {
    width: 110,
    cell: ({ severity }) => (
      <Badge color={colors[severity]} variant="dot" tt="none">
        {text.editor.severity[severity]}
      </Badge>
    ),
  },
  {
    cell: ({ message, read, createdAt, deliveries = [] }) => (
      <>
        <Text size="sm" fw={read ? 400 : 600}>
          {message}
        </Text>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          <TimeText at={createdAt} />
        </Text>
        {deliveries.map(({ channel, target, state, attempts, error }) => (
          <Text key={`${channel} ${target}`} size="xs" c={state === 'failed' ? 'red' : 'dimmed'}>
            {words.delivery(target, words.states[state], attempts)}
            {error && ` – ${error}`}
          </Text>
        ))}
      </>
    ),
  },
  { width: 160, isMinor: true, cell: ({ createdAt }) => <TimeText at={createdAt} /> },
];

const rowsPerPage = 50;

/** The notifications of the user; unread ones are bold. */
export const NotificationsPage = () => {
  const queries = useQueryClient();
  const toasts = useToasts();
  const { page, set } = usePageSearch();
  const { data, error } = useQuery({
    queryKey: ['notifications', 'list', page],
    queryFn: () => client.notifications.list({ query: { count: rowsPerPage, page, deliveries: true } }),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  const readAll = async () => {
    try {
      await client.notifications.read();
      await queries.invalidateQueries({ queryKey: ['notifications'] });
      await queries.invalidateQueries({ queryKey: sessionKey });
    } catch (problem) {
      toasts.problem(problem);
    }
  };
  return (
    <ListPage
      title={text.nav.notifications}
      actions={
        <Button variant="default" onClick={() => void readAll()}>
          {text.notifications.readAll}
        </Button>
      }
      list={data}
      error={error}
      empty={text.notifications.none}
      page={page}
      onPage={(next) => set({ page: next })}
    >
      {(rows) => <DataTable columns={columns} rows={rows} keyOf={({ id }) => id} />}
    </ListPage>
  );
};
