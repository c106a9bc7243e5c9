import { Badge, Button, Card, Code, Group, Popover, Select, Stack, Table, Text, Title } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { IconArrowsDiff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { sentenceOf } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';
import { measured } from '../../lib/units.ts';
import { loadSeries, type RunSeries } from './run-series.ts';

const { compare } = text;

type Search = Record<string, unknown>;

/** The run in the address that this one is compared with. */
export const useOtherRun = (latency: string): { runId: number; series: RunSeries | undefined } | undefined => {
  const search: Search = useSearch({ strict: false });
  const [taskId, runId] = [Number(search['withTask'] ?? 0), Number(search['with'] ?? 0)];
  const isWanted = taskId > 0 && runId > 0;
  const { data: series } = useQuery({
    queryKey: ['tasks', 'series', taskId, runId, latency],
    queryFn: () => loadSeries(taskId, runId, latency),
    enabled: isWanted,
  });
  return isWanted ? { runId, series } : undefined;
};

/** Chooses the run to compare with: of this task or of any other. */
export const ComparePicker = ({ task, runId }: { task: Task; runId: number }) => {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [taskId, setTaskId] = useState(Number(search['withTask'] ?? task.id));
  const { data: runs = [] } = useQuery({
    queryKey: ['tasks', 'runs', taskId],
    queryFn: async () => (await client.tasks.runs({ params: { id: taskId }, query: { count: 50 } })).data,
    enabled: isOpen,
  });
  const set = (other: number | undefined) => {
    setOpen(false);
    const { with: _, withTask: __, ...rest } = search;
    const chosen = other === undefined ? rest : { ...rest, with: other, withTask: taskId };
    void navigate({ to: '.', search: chosen as never, replace: true });
  };
  return (
    <Group gap="xs">
      {search['with'] !== undefined && (
        <Button size="xs" variant="subtle" onClick={() => set(undefined)}>
          {compare.stop}
        </Button>
      )}
      <Popover opened={isOpen} onChange={setOpen} trapFocus withinPortal>
        <Popover.Target>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowsDiff size={14} />}
            onClick={() => setOpen(!isOpen)}
          >
            {compare.with}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={compare.with}>
          <Stack gap="xs">
            <RecordSelect
              name="tasks"
              label={compare.task}
              value={taskId}
              onChange={(id) => id !== undefined && setTaskId(id)}
              openOnFocus={false}
              comboboxProps={{ withinPortal: false }}
            />
            <Select
              data-autofocus
              label={compare.run}
              placeholder={compare.none}
              comboboxProps={{ withinPortal: false }}
              data={runs
                .filter(({ id }) => id !== runId)
                .map(({ id, number, queuedAt }) => ({
                  value: String(id),
                  label: compare.runOf(number, absoluteTime(queuedAt)),
                }))}
              value={null}
              onChange={(other) => other !== null && set(Number(other))}
              nothingFoundMessage={compare.none}
            />
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
};

const colorOf = (delta: number | null, better: string, significant: boolean) => {
  if (delta === null || delta === 0 || better === 'none' || !significant) return 'inherit';
  return delta > 0 === (better === 'higher') ? 'teal' : 'red';
};

const percent = (value: number | null) => (value === null ? '–' : `${value > 0 ? '+' : ''}${value.toFixed(1)} %`);

/** The differences between two runs, number by number. */
export const RunComparison = ({ runId, otherId }: { runId: number; otherId: number }) => {
  const { data, error } = useQuery({
    queryKey: ['tasks', 'compare', otherId, runId],
    queryFn: async () => (await client.tasks.compare({ query: { base: otherId, target: runId } })).data,
  });
  if (error) return <Text role="alert">{sentenceOf(error)}</Text>;
  if (data === undefined) return null;
  const title = compare.title(text.task.runNumber(data.base.number), text.task.runNumber(data.target.number));
  return (
    <Card withBorder padding="sm">
      <Group mb="xs">
        <Title order={3} size="h5">
          {title}
        </Title>
        <Badge variant="light" tt="none" autoContrast>
          {compare.verdicts[data.verdict]}
        </Badge>
      </Group>
      <Table.ScrollContainer minWidth={520}>
        <Table className="numbers" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              {compare.columns.map((name, i) => (
                <Table.Th key={name} ta={i === 0 ? 'left' : 'right'}>
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.metrics.map(({ metric, unit, base, target, delta, deltaPct, better, significant }) => (
              <Table.Tr key={metric} fw={significant ? 600 : 400}>
                <Table.Td>{metric}</Table.Td>
                <Table.Td ta="right">{measured(base, unit)}</Table.Td>
                <Table.Td ta="right">{measured(target, unit)}</Table.Td>
                <Table.Td ta="right" c={colorOf(delta, better, significant)}>
                  {measured(delta, unit)}
                </Table.Td>
                <Table.Td ta="right" c={colorOf(delta, better, significant)}>
                  {percent(deltaPct)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {data.configDiff.length > 0 && (
        <>
          <Text size="sm" fw={600} mt="sm">
            {compare.definition}
          </Text>
          {data.configDiff.map(({ path, base, target }) => (
            <Text key={path} size="sm">
              {path}: <Code>{JSON.stringify(base) ?? '–'}</Code> → <Code>{JSON.stringify(target) ?? '–'}</Code>
            </Text>
          ))}
        </>
      )}
    </Card>
  );
};
