import { Badge } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { text } from '../../lib/text.ts';

const { networks: words } = text;

interface Row {
  ip: string;
  mac: string | null;
  source: string;
  holder?: { agentID: number; taskID: number } | null;
}

const columns: readonly DataColumn<Row>[] = [
  { header: words.ip, cell: ({ ip }) => ip },
  { header: words.mac, cell: ({ mac }) => mac ?? words.interfaceMac },
  {
    header: words.source,
    isMinor: true,
    cell: ({ source, holder }) => (
      <>
        <Badge variant="light" color={source === 'override' ? 'orange' : 'gray'} tt="none">
          {words.sources[source] ?? source}
        </Badge>{' '}
        {holder && (
          <Link to="/tasks/$id" params={{ id: String(holder.taskID) }}>
            {words.usedByTask(holder.taskID)}
          </Link>
        )}
      </>
    ),
  },
];

/** IP addresses with their MAC addresses and the tasks that use them. */
export const AddressTable = ({ rows }: { rows: readonly Row[] }) => (
  <DataTable label={words.addresses} columns={columns} rows={rows} keyOf={({ ip }) => ip} isMonospace />
);
