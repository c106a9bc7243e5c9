import { Card, Table, Title } from '@mantine/core';
import type { Rfc2544Result } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { duration, howMany, measured, scaled } from '../../lib/units.ts';

const { rfc2544 } = text.run;

const rate = (value: number | undefined) => (value === undefined ? '–' : howMany(Math.round(value)));

const cellsOf = ({ frameSize, throughput, latency, frameLoss, backToBack }: Rfc2544Result): string[] => [
  String(frameSize),
  rate(throughput?.fps),
  scaled(throughput?.bps, 'bit/s'),
  measured(throughput?.linePct, '%'),
  throughput === undefined ? '–' : rfc2544.limits[throughput.limit],
  duration(latency?.minUs),
  duration(latency?.avgUs),
  duration(latency?.p99Us),
  duration(latency?.maxUs),
  measured(frameLoss[0]?.lossPct, '%'),
  backToBack?.isLongest ? rfc2544.atLeast(rate(backToBack.frames)) : rate(backToBack?.frames),
];

/** What RFC 2544 found, a line for each size of frames; every trial is in the report. */
export const RunRfc2544 = ({ rows }: { rows: readonly Rfc2544Result[] }) => (
  <Card withBorder padding="sm">
    <Title order={2} size="h4" mb="xs">
      {rfc2544.title}
    </Title>
    <Table.ScrollContainer minWidth={900}>
      <Table className="numbers" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            {rfc2544.columns.map((name) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.configurationIndex}-${row.frameSize}`}>
              {cellsOf(row).map((cell, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the cells are the columns
                <Table.Td key={i} ta="right">
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </Card>
);
