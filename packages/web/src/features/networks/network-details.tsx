import { Button, Card, Group, Skeleton, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Problem } from '../../components/problem.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { howMany } from '../../lib/units.ts';
import { AddressTable } from './address-table.tsx';

const { networks: words } = text;
const rowsOnPage = 25;

/** The addresses of a network, their MACs and who holds them; the page stands in the address of the page. */
export const NetworkDetails = ({ id }: { id: number }) => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const start = search['start'] === undefined ? undefined : String(search['start']);
  const { data, error } = useQuery({
    queryKey: ['networks', 'addresses', id, start],
    queryFn: () =>
      client.networks.addresses({
        params: { id },
        query: { limit: rowsOnPage, ...(start !== undefined && { start }) },
      }),
    placeholderData: keepPreviousData,
  });
  const go = (next: string | undefined) => void navigate({ to: '.', search: { ...search, start: next } as never });
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {words.addresses}
        </Title>
        {data && (
          <Text size="sm" c="dimmed">
            {words.total(howMany(data.totalRows))}
          </Text>
        )}
      </Group>
      {error && <Problem error={error} />}
      {!data && !error && <Skeleton height={200} />}
      {data && <AddressTable rows={data.rows} />}
      <Group justify="flex-end" mt="xs">
        {start !== undefined && (
          <Button variant="default" size="xs" onClick={() => go(undefined)}>
            {words.first}
          </Button>
        )}
        {data?.nextStart && (
          <Button variant="default" size="xs" onClick={() => go(data.nextStart ?? undefined)}>
            {words.next}
          </Button>
        )}
      </Group>
    </Card>
  );
};

/** The policy of MACs, which the record itself does not show. */
export const loadMacPolicy = async (id: number) => {
  const { data } = await client.networks.macPolicy({ params: { id } });
  return { macPolicy: data.macPolicy, macOverrides: data.macOverrides };
};
