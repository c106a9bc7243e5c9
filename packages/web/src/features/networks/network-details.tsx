import { Button, Group, Skeleton, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Section } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { howMany } from '../../lib/units.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { AddressTable } from './address-table.tsx';

const { networks: words } = text;
const rowsPerPage = 25;

/** The addresses of a network. The first address of the page is in the URL. */
export const NetworkDetails = ({ id }: { id: number }) => {
  const { text: read, push } = usePageSearch();
  const start = read('start');
  const { data, error } = useQuery({
    queryKey: ['networks', 'addresses', id, start],
    queryFn: () => {
      const query = { limit: rowsPerPage, ...(start !== undefined && { start }) };
      return client.networks.addresses({ params: { id }, query });
    },
    placeholderData: keepPreviousData,
  });
  const total = data && (
    <Text size="sm" c="dimmed">
      {words.total(howMany(data.totalRows))}
    </Text>
  );
  return (
    <Section title={words.addresses} aside={total}>
      {error && <Problem error={error} />}
      {!data && !error && <Skeleton height={200} />}
      {data && <AddressTable rows={data.rows} />}
      <Group justify="flex-end" mt="xs">
        {start !== undefined && (
          <Button variant="default" size="xs" onClick={() => push({ start: undefined })}>
            {words.first}
          </Button>
        )}
        {data?.nextStart && (
          <Button variant="default" size="xs" onClick={() => push({ start: data.nextStart ?? undefined })}>
            {words.next}
          </Button>
        )}
      </Group>
    </Section>
  );
};

/** The MAC policy, which the network record does not contain. */
export const loadMacPolicy = async (id: number) => {
  const { data } = await client.networks.macPolicy({ params: { id } });
  return { macPolicy: data.macPolicy, macOverrides: data.macOverrides };
};
