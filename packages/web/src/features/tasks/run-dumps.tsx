import { Anchor, Card, Table, Text, Title } from '@mantine/core';
import type { RunDump } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { bytes, howMany } from '../../lib/units.ts';

const { run } = text;
const pollMs = 2000;

interface RunDumpsProps {
  id: number;
  runId: number;
  isActive: boolean;
}

const isUnderWay = (dumps: readonly RunDump[]) => dumps.some(({ ready, problem }) => !ready && problem === '');

/** Packet dumps of a run: those that can be had and those on their way. */
export const RunDumps = ({ id, runId, isActive }: RunDumpsProps) => {
  const may = useMay();
  const { data: dumps = [] } = useQuery({
    queryKey: ['tasks', 'dumps', runId],
    queryFn: async () => (await client.tasks.dumps({ params: { id, runId } })).data,
    enabled: may('tasks', 'dumps'),
    refetchInterval: ({ state }) => (isActive || isUnderWay(state.data ?? []) ? pollMs : false),
  });
  if (dumps.length === 0) return null;
  return (
    <Card withBorder padding="sm">
      <Title order={3} size="h5" mb="xs">
        {run.captures}
      </Title>
      <Table.ScrollContainer minWidth={480}>
        <Table className="numbers" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              {run.captureColumns.map((name, i) => (
                <Table.Th key={name} ta={i < 2 ? 'left' : 'right'}>
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {dumps.map((dump) => (
              <DumpRow key={dump.id} dump={dump} href={`/v1/tasks/${id}/runs/${runId}/dumps/${dump.id}`} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
};

const DumpRow = ({ dump, href }: { dump: RunDump; href: string }) => {
  const name = `${run.captureOf(dump.agentID)} ${dump.interface}`;
  const remarks = [
    ...(dump.truncated ? [run.captureTruncated] : []),
    ...(dump.drops > 0 ? [run.captureDrops(dump.drops)] : []),
    ...(dump.problem === '' ? [] : [dump.problem]),
  ];
  return (
    <Table.Tr>
      <Table.Td>{dump.ready ? <Anchor href={href}>{name}</Anchor> : name}</Table.Td>
      <Table.Td>
        {!dump.ready && dump.problem === '' && (
          <Text size="xs" c="dimmed">
            {run.capturePending}
          </Text>
        )}
        {remarks.map((remark) => (
          <Text key={remark} size="xs" c="orange">
            {remark}
          </Text>
        ))}
      </Table.Td>
      <Table.Td ta="right">{howMany(dump.packets)}</Table.Td>
      <Table.Td ta="right">{bytes(dump.size)}</Table.Td>
    </Table.Tr>
  );
};
