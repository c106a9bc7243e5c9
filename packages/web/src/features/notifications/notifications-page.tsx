import { Badge, Button, Group, Skeleton, Stack, Table, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { EmptyState } from '../../components/page-states.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { sessionKey } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const colors = { info: 'blue', warning: 'yellow', error: 'red' } as const;

/** What happened while nobody looked. */
export const NotificationsPage = () => {
  const queries = useQueryClient();
  const toasts = useToasts();
  const { data } = useQuery({
    queryKey: ['notifications'],
    queryFn: async () => (await client.notifications.list({ query: { count: 100 } })).data,
    refetchInterval: 10_000,
  });
  const readAll = async () => {
    try {
      await client.notifications.read();
      await queries.invalidateQueries({ queryKey: ['notifications'] });
      await queries.invalidateQueries({ queryKey: sessionKey });
    } catch (error) {
      toasts.problem(error);
    }
  };
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {text.nav.notifications}
        </Title>
        <Button variant="default" onClick={() => void readAll()}>
          {text.notifications.readAll}
        </Button>
      </Group>
      {data === undefined && <Skeleton height={200} />}
      {data?.length === 0 && <EmptyState title={text.notifications.none} />}
      {data !== undefined && data.length > 0 && (
        <Table>
          <Table.Tbody>
            {data.map(({ id, severity, message, createdAt, read }) => (
              <Table.Tr key={id} fw={read ? 400 : 600}>
                <Table.Td w={100}>
                  <Badge color={colors[severity]} variant="dot" tt="none">
                    {text.editor.severity[severity]}
                  </Badge>
                </Table.Td>
                <Table.Td>{message}</Table.Td>
                <Table.Td w={160}>
                  <TimeText at={createdAt} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
};
