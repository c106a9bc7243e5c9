import { Button, Group, Stack } from '@mantine/core';
import type { RunTableRow, TriedExchange } from '@rushhour/contract';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ExchangeList } from '../../../../components/exchange-list.tsx';
import { Pages, Section } from '../../../../components/page.tsx';
import { client } from '../../../../lib/client.ts';
import { text } from '../../../../lib/text.ts';

const perPage = 20;
const pollMs = 2000;

interface RunExchangesProps {
  id: number;
  runId: number;
  isActive: boolean;
}

const valuesIn = (cell: RunTableRow['cells'][string] | undefined): Record<string, string> =>
  JSON.parse(String(cell ?? '{}')) as Record<string, string>;

const exchangeOf = ({ state, cells }: RunTableRow): TriedExchange =>
  ({
    ...cells,
    state,
    step: `${cells['journey']} › ${cells['step']}`,
    variables: valuesIn(cells['variables']),
    extracted: valuesIn(cells['extracted']),
  }) as unknown as TriedExchange;

/** The requests of journeys that the run has kept. */
export const RunExchanges = ({ id, runId, isActive }: RunExchangesProps) => {
  const [page, setPage] = useState(1);
  const { data } = useQuery({
    queryKey: ['tasks', 'exchanges', runId, page],
    queryFn: () =>
      client.tasks.runAgents({ params: { id, runId }, query: { table: 'exchanges', count: perPage, page } }),
    placeholderData: keepPreviousData,
    refetchInterval: isActive ? pollMs : false,
  });
  const rows = (data?.data ?? []) as RunTableRow[];
  if (rows.length === 0) return null;
  return (
    <Section title={text.exchanges.title} order={3}>
      <Stack gap="xs">
        <Group justify="flex-end">
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={16} />}
            href={`/v1/tasks/${id}/runs/${runId}/report?format=csv&sections=exchanges`}
          >
            {text.rows.csv}
          </Button>
        </Group>
        <ExchangeList key={page} exchanges={rows.map(exchangeOf)} />
        <Pages total={data?.cursor.totalPages ?? 1} page={page} onPage={setPage} />
      </Stack>
    </Section>
  );
};
