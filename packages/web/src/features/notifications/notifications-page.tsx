import { Badge, Button, Text } from '@mantine/core';
import type { Notification } from '@rushhour/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { ListPage } from '../../components/page.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { sessionKey } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

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
    cell: ({ message, read, deliveries = [] }) => (
      <>
        <Text size="sm" fw={read ? 400 : 600}>
          {message}
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
  { width: 160, cell: ({ createdAt }) => <TimeText at={createdAt} /> },
];

/** The notifications of the user; unread ones are bold. */
export const NotificationsPage = () => {
  const queries = useQueryClient();
  const toasts = useToasts();
  const { data, error } = useQuery({
    queryKey: ['notifications'],
    queryFn: () => client.notifications.list({ query: { count: 100, deliveries: true } }),
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
      list={data && { data: data.data }}
      error={error}
      empty={text.notifications.none}
    >
      {(rows) => <DataTable columns={columns} rows={rows} keyOf={({ id }) => id} />}
    </ListPage>
  );
};
