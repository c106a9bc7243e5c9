import { Button, Chip, Group, Pill, Stack, Tabs, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { RunResult, RunTable, RunTableRow, Task } from '@rushhour/contract';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { Pages, Section } from '../../../../components/page.tsx';
import { client } from '../../../../lib/client.ts';
import { text } from '../../../../lib/text.ts';
import { howMany } from '../../../../lib/units.ts';
import { PlaneCommands } from '../plane-commands.tsx';

const { rows: words } = text;
const rowsPerPage = 50;
const pollMs = 2000;
const typingMs = 250;

interface RunRowsProps {
  task: Task;
  runId: number;
  isActive: boolean;
}

type TableFacts = NonNullable<RunResult['tables']>[number];

/** Sessions, neighbours, security associations and other tables of a run. */
export const RunRows = ({ task, runId, isActive }: RunRowsProps) => {
  const { id } = task;
  const [chosen, choose] = useState<RunTable>();
  const [neighbour, setNeighbour] = useState<Neighbour>();
  const { data: tables = [] } = useQuery({
    queryKey: ['tasks', 'tables', runId],
    queryFn: async () => (await client.tasks.run({ params: { id, runId }, query: {} })).data.tables ?? [],
    // Requests and answers have a section of their own.
    select: (found) => found.filter(({ name }) => name !== 'exchanges'),
    refetchInterval: isActive ? pollMs : false,
  });
  const shown = tables.find(({ name }) => name === chosen) ?? tables[0];
  if (shown === undefined) return null;
  return (
    <Section title={words.title} order={3}>
      <Stack gap="xs">
        {isActive && <PlaneCommands task={task} />}
        <Tabs value={shown.name} onChange={(name) => choose(name as RunTable)}>
          <Tabs.List>
            {tables.map(({ name, rows }) => (
              <Tabs.Tab key={name} value={name}>
                {words.tables[name]} ({howMany(rows)})
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
        {shown.name === 'routes' && neighbour !== undefined && (
          <NeighbourPill neighbour={neighbour} onRemove={() => setNeighbour(undefined)} />
        )}
        <Rows
          key={`${shown.name} ${shown.name === 'routes' ? JSON.stringify(neighbour) : ''}`}
          {...{ id, runId, isActive }}
          facts={shown}
          neighbour={shown.name === 'routes' ? neighbour : undefined}
          onNeighbour={
            tables.some(({ name }) => name === 'routes')
              ? (one) => {
                  setNeighbour(one);
                  choose('routes');
                }
              : undefined
          }
        />
      </Stack>
    </Section>
  );
};

/** Whose routes are shown. */
interface Neighbour {
  readonly router: string;
  readonly protocol: string;
  /** Absent where all neighbours of a router share its database. */
  readonly neighbour?: string;
}

const sharedDatabases: readonly unknown[] = ['ospf', 'isis', 'igmp-querier'];

const neighbourOf = ({ cells }: RunTableRow): Neighbour => ({
  router: String(cells['router'] ?? ''),
  protocol: String(cells['protocol'] ?? ''),
  ...(!sharedDatabases.includes(cells['protocol']) && { neighbour: String(cells['neighbour'] ?? '') }),
});

const NeighbourPill = ({ neighbour, onRemove }: { neighbour: Neighbour; onRemove: () => void }) => (
  <Group>
    <Pill withRemoveButton onRemove={onRemove} removeButtonProps={{ 'aria-label': words.allRoutes }}>
      {words.of(neighbour)}
    </Pill>
  </Group>
);

interface RowsProps extends Pick<RunRowsProps, 'runId' | 'isActive'> {
  id: number;
  facts: TableFacts;
  neighbour: Neighbour | undefined;
  onNeighbour: ((neighbour: Neighbour) => void) | undefined;
}

const Rows = ({ id, runId, isActive, facts: { name: table, states }, neighbour, onNeighbour }: RowsProps) => {
  const [state, setState] = useState('');
  const [typed, setTyped] = useState('');
  const [page, setPage] = useState(1);
  const [search] = useDebouncedValue(typed, typingMs);
  const query = { table, count: rowsPerPage, page, ...(state && { state }), ...(search && { search }), ...neighbour };
  const { data } = useQuery({
    queryKey: ['tasks', 'rows', runId, query],
    queryFn: () => client.tasks.runAgents({ params: { id, runId }, query }),
    placeholderData: keepPreviousData,
    refetchInterval: isActive ? pollMs : false,
  });
  const rows = (data?.data ?? []) as RunTableRow[];
  const restart = (action: () => void) => {
    action();
    setPage(1);
  };
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <StateChips states={states} state={state} onState={(next) => restart(() => setState(next))} />
        <Group gap="xs">
          <TextInput
            aria-label={text.table.search}
            placeholder={text.table.search}
            value={typed}
            onChange={(event) => restart(() => setTyped(event.currentTarget.value))}
          />
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={16} />}
            href={`/v1/tasks/${id}/runs/${runId}/report?format=csv&sections=${table}`}
          >
            {words.csv}
          </Button>
        </Group>
      </Group>
      <DataTable
        columns={[...columnsOf(rows), ...(table === 'neighbours' && onNeighbour ? [routesColumn(onNeighbour)] : [])]}
        rows={rows}
        keyOf={({ agentID, job, index }) => `${agentID}-${job}-${index}`}
        minWidth={760}
      />
      <Pages total={data?.cursor.totalPages ?? 1} page={page} onPage={setPage} />
    </Stack>
  );
};

interface StateChipsProps {
  states: Readonly<Record<string, number>>;
  state: string;
  onState: (state: string) => void;
}

/** How many rows are in which state; a chosen state filters. */
const StateChips = ({ states, state, onState }: StateChipsProps) => (
  <Group gap="xs">
    {Object.entries(states).map(([name, count]) => (
      <Chip key={name} size="xs" checked={state === name} onChange={(isOn) => onState(isOn ? name : '')}>
        {name} {howMany(count)}
      </Chip>
    ))}
  </Group>
);

/** Opens what a neighbour has announced: its routes, labels or database. */
const routesColumn = (onNeighbour: (neighbour: Neighbour) => void): DataColumn<RunTableRow> => ({
  label: words.routesOf,
  cell: (row) => (
    <Button size="compact-xs" variant="subtle" onClick={() => onNeighbour(neighbourOf(row))}>
      {words.routesOf}
    </Button>
  ),
});

const columnsOf = (rows: readonly RunTableRow[]): DataColumn<RunTableRow>[] => {
  const names = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
  return [
    { header: words.number, align: 'right', cell: ({ index }) => index },
    { header: words.state, cell: ({ state }) => state },
    ...names.map(
      (name): DataColumn<RunTableRow> => ({
        header: words.columns[name] ?? name,
        isLong: true,
        cell: ({ cells }) => cells[name] ?? '',
      }),
    ),
  ];
};
