import { Select, SimpleGrid, Stack, Text } from '@mantine/core';
import type { DeviceRun, DeviceUse } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { VerdictBadge } from '../../../components/badges.tsx';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { useDevices } from '../../../components/device-fields.tsx';
import { ListPage, PageHeading, Section } from '../../../components/page.tsx';
import { TimeText } from '../../../components/time-text.tsx';
import { client } from '../../../lib/client.ts';
import { text } from '../../../lib/text.ts';
import { usePageSearch } from '../../../lib/use-page-search.ts';
import { TrendCard } from '../task-trends.tsx';
import { trendsOf } from '../trends.ts';

const { devices: words, columns: headers, task: taskWords } = text;

/** Every device under test, or the results of the one in the URL. */
export const DevicesPage = () => {
  const { text: read } = usePageSearch();
  const name = read('device');
  return name === undefined ? <DeviceList /> : <DeviceResults key={name} name={name} />;
};

const DeviceList = () => {
  const devices = useDevices();
  return (
    <ListPage
      title={text.nav.devices}
      hint={words.hint}
      list={devices && { data: devices }}
      error={null}
      empty={words.none}
    >
      {(rows) => <DataTable columns={deviceColumns} rows={rows} />}
    </ListPage>
  );
};

const deviceColumns: readonly DataColumn<DeviceUse>[] = [
  {
    header: words.device,
    cell: ({ name }) => (
      <Link to="/devices" search={{ device: name }}>
        {name}
      </Link>
    ),
  },
  { header: words.vendor, isMinor: true, cell: ({ vendor }) => vendor || '–' },
  { header: words.model, isMinor: true, cell: ({ model }) => model || '–' },
  { header: words.version, cell: ({ version }) => version || '–' },
  { header: words.runs, align: 'right', cell: ({ runs }) => runs },
  { header: words.lastRun, cell: ({ lastRunAt }) => <TimeText at={lastRunAt} /> },
];

const useDeviceRuns = (device: string) =>
  useQuery({
    queryKey: ['tasks', 'device runs', device],
    queryFn: async () => (await client.tasks.counters({ query: { device } })).data.deviceRuns ?? [],
  }).data;

/** Tasks differ too much to be drawn together: each has its own trend, over all versions of the device. */
const DeviceResults = ({ name }: { name: string }) => {
  const { text: read, set } = usePageSearch();
  const runs = useDeviceRuns(name);
  const versions = [...new Set((runs ?? []).flatMap(({ labels }) => labels['deviceVersion'] ?? []))];
  const version = read('version') ?? null;
  const shown = (runs ?? []).filter(({ labels }) => version === null || labels['deviceVersion'] === version);
  return (
    <Stack>
      <PageHeading title={name}>
        {versions.length > 1 && (
          <Select
            aria-label={words.version}
            placeholder={words.allVersions}
            data={versions}
            value={version}
            onChange={(next) => set({ version: next ?? undefined })}
            clearable
          />
        )}
      </PageHeading>
      {runs?.length === 0 && <Text c="dimmed">{words.noRuns}</Text>}
      {tasksOf(shown).map(([taskId, ofTask]) => (
        <TaskOfDevice key={taskId} taskId={taskId} runs={ofTask} />
      ))}
    </Stack>
  );
};

const tasksOf = (runs: readonly DeviceRun[]): [number, DeviceRun[]][] => [
  ...Map.groupBy(runs, ({ taskID }) => taskID).entries(),
];

const TaskOfDevice = ({ taskId, runs }: { taskId: number; runs: readonly DeviceRun[] }) => {
  const trends = trendsOf([...runs].reverse());
  return (
    <Section
      title={
        <Link to="/tasks/$id" params={{ id: String(taskId) }}>
          {runs[0]?.task}
        </Link>
      }
    >
      {trends.length > 0 && (
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" mb="sm">
          {trends.map((trend) => (
            <TrendCard key={trend.label} trend={trend} taskId={taskId} />
          ))}
        </SimpleGrid>
      )}
      <DataTable columns={runColumns} rows={runs} keyOf={({ id }) => id} />
    </Section>
  );
};

const runColumns: readonly DataColumn<DeviceRun>[] = [
  {
    header: taskWords.run,
    cell: ({ id, taskID, number }) => (
      <Link to="/tasks/$id/runs/$runId" params={{ id: String(taskID), runId: String(id) }}>
        {taskWords.runNumber(number)}
      </Link>
    ),
  },
  { header: words.version, cell: ({ labels }) => labels['deviceVersion'] ?? '–' },
  { header: headers.verdict, cell: ({ verdict }) => <VerdictBadge value={verdict} /> },
  { header: words.finished, cell: ({ finishedAt }) => <TimeText at={finishedAt} /> },
];
