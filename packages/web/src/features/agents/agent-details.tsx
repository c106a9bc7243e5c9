import { Badge, Card, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { bytes, scaled } from '../../lib/units.ts';

const { agents: words } = text;

/** What the machine can do and what keeps it from the rest, its interfaces, and how it feels. */
export const AgentDetails = ({ id }: { id: number }) => (
  <SimpleGrid cols={{ base: 1, lg: 2 }}>
    <Capabilities id={id} />
    <Stack>
      <Health id={id} />
      <Interfaces id={id} />
    </Stack>
  </SimpleGrid>
);

const Capabilities = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['agents', 'capabilities', id],
    queryFn: async () => (await client.agents.capabilities({ params: { id } })).data,
  });
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        {words.capabilities}
      </Title>
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {data?.plugins.map(({ id: plugin, name, available, engine, reason }) => (
            <Table.Tr key={plugin}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>
                <Badge color={available ? 'teal' : 'gray'} variant="dot" tt="none">
                  {available ? words.available : words.missing}
                </Badge>
              </Table.Td>
              <Table.Td>
                <Text size="xs" c="dimmed">
                  {available ? engine : reason}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
};

const Health = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['agents', 'health', id],
    queryFn: async () => (await client.agents.metrics({ params: { id } })).data.latest,
    refetchInterval: 3000,
  });
  if (!data) return null;
  const cores = data.cpuPct.map((value) => `${Math.round(value)} %`).join(' · ');
  const rows = [
    [words.cpu, cores],
    [words.memory, bytes(data.memoryUsedMb * 2 ** 20)],
    [words.load, data.load1.toFixed(2)],
    [words.disk, bytes(data.diskFreeMb * 2 ** 20)],
    ...data.interfaces.map(({ name, rxBps, txBps }) => [
      name,
      `↓ ${scaled(rxBps, 'bit/s')}  ↑ ${scaled(txBps, 'bit/s')}`,
    ]),
  ] as const;
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        {words.health}
      </Title>
      {rows.map(([name, value]) => (
        <Group key={name} justify="space-between">
          <Text size="sm">{name}</Text>
          <Text size="sm" className="numbers">
            {value}
          </Text>
        </Group>
      ))}
    </Card>
  );
};

const Interfaces = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['agents', 'interfaces', id],
    queryFn: async () => (await client.agents.interfaces({ params: { id } })).data,
  });
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        {words.interfaces}
      </Title>
      <Table.ScrollContainer minWidth={320} tabIndex={0}>
        <Table verticalSpacing={4} aria-label={words.interfaces}>
          <Table.Tbody>
            {data?.map(({ id: number, name, mac, link, ips, usable, reason }) => (
              <Table.Tr key={number}>
                <Table.Td>{name}</Table.Td>
                <Table.Td>{link}</Table.Td>
                <Table.Td>{mac}</Table.Td>
                <Table.Td style={{ whiteSpace: 'pre-line' }}>{ips.join('\n')}</Table.Td>
                <Table.Td>
                  <Text size="xs" c="dimmed">
                    {usable ? '' : reason}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
};
