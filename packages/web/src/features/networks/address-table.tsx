import { Badge, Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { text } from '../../lib/text.ts';

const { networks: words } = text;

interface Row {
  ip: string;
  mac: string | null;
  source: string;
  holder?: { agentID: number; taskID: number } | null;
}

/** Addresses and the MACs they will have. */
export const AddressTable = ({ rows }: { rows: readonly Row[] }) => (
  <Table.ScrollContainer minWidth={280} tabIndex={0}>
    <Table verticalSpacing={3} className="numbers" aria-label={words.addresses}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.ip}</Table.Th>
          <Table.Th>{words.mac}</Table.Th>
          <Table.Th visibleFrom="sm">{words.source}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody ff="monospace" fz="xs">
        {rows.map(({ ip, mac, source, holder }) => (
          <Table.Tr key={ip}>
            <Table.Td>{ip}</Table.Td>
            <Table.Td>{mac ?? words.interfaceMac}</Table.Td>
            <Table.Td visibleFrom="sm">
              <Badge variant="light" color={source === 'override' ? 'orange' : 'gray'} tt="none">
                {words.sources[source] ?? source}
              </Badge>{' '}
              {holder && (
                <Link to="/tasks/$id" params={{ id: String(holder.taskID) }}>
                  {words.usedByTask(holder.taskID)}
                </Link>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
