import { Anchor, Text } from '@mantine/core';
import type { RunDump } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { Section } from '../../../../components/page.tsx';
import { client } from '../../../../lib/client.ts';
import { useMay } from '../../../../lib/session.ts';
import { text } from '../../../../lib/text.ts';
import { bytes, howMany } from '../../../../lib/units.ts';
import { Remarks } from '../remarks.tsx';

const { run } = text;
const { captureColumns: headers } = run;
const pollMs = 2000;

interface RunCapturesProps {
  id: number;
  runId: number;
  isActive: boolean;
}

const isPending = ({ ready, problem }: RunDump) => !ready && problem === '';

/** The packet captures of a run. */
export const RunCaptures = ({ id, runId, isActive }: RunCapturesProps) => {
  const may = useMay();
  const { data: captures = [] } = useQuery({
    queryKey: ['tasks', 'dumps', runId],
    queryFn: async () => (await client.tasks.dumps({ params: { id, runId } })).data,
    enabled: may('tasks', 'dumps'),
    refetchInterval: ({ state }) => (isActive || (state.data ?? []).some(isPending) ? pollMs : false),
  });
  if (captures.length === 0) return null;
  return (
    <Section title={run.captures} order={3}>
      <DataTable
        columns={columnsOf(`/v1/tasks/${id}/runs/${runId}/dumps`)}
        rows={captures}
        keyOf={(capture) => capture.id}
        minWidth={480}
      />
    </Section>
  );
};

const remarksOf = ({ truncated, drops, problem }: RunDump) => [
  ...(truncated ? [run.captureTruncated] : []),
  ...(drops > 0 ? [run.captureDrops(drops)] : []),
  ...(problem === '' ? [] : [problem]),
];

const columnsOf = (url: string): DataColumn<RunDump>[] => [
  {
    header: headers.capture,
    cell: ({ id, agentID, interface: port, ready }) => {
      const name = run.captureOf(agentID, port);
      return ready ? <Anchor href={`${url}/${id}`}>{name}</Anchor> : name;
    },
  },
  {
    header: headers.notes,
    cell: (capture) => (
      <>
        {isPending(capture) && (
          <Text size="xs" c="dimmed">
            {run.capturePending}
          </Text>
        )}
        <Remarks remarks={remarksOf(capture)} />
      </>
    ),
  },
  { header: headers.packets, align: 'right', cell: ({ packets }) => howMany(packets) },
  { header: headers.size, align: 'right', cell: ({ size }) => bytes(size) },
];
