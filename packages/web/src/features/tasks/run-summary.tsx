import { Accordion, Table, Title } from '@mantine/core';
import type { MetricValue, RunSummary as Summary } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { measured } from '../../lib/units.ts';

const { run } = text;
type Side = Summary[number];
/** Becomes part of an id, so it has no blanks. */
const keyOf = ({ configurationIndex, role }: Side) => `${configurationIndex}-${role}`;

/** Every number of a run, by entry and side; the first client stands open. */
export const RunSummary = ({ summary }: { summary: Summary }) => {
  const first = summary.find(({ role }) => role === 'client') ?? summary[0];
  if (first === undefined) return null;
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {run.metrics}
      </Title>
      <Accordion multiple variant="contained" order={3} defaultValue={[keyOf(first)]}>
        {summary.map((side) => (
          <Accordion.Item key={keyOf(side)} value={keyOf(side)}>
            <Accordion.Control>
              {side.configurationIndex + 1} {side.plugin} · {side.role}
            </Accordion.Control>
            <Accordion.Panel>
              <SideTable metrics={side.metrics} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </section>
  );
};

/** What never moved says nothing, and the strain of agents is told where agents are. */
const isTold = ({ metric, type, sum }: MetricValue) =>
  !metric.startsWith('agent.') && (type !== 'counter' || sum !== 0);

const SideTable = ({ metrics }: { metrics: readonly MetricValue[] }) => (
  <Table.ScrollContainer minWidth={500}>
    <Table className="numbers" verticalSpacing={4}>
      <Table.Thead>
        <Table.Tr>
          {run.columns.map((name) => (
            <Table.Th key={name} ta={name === run.columns[0] ? 'left' : 'right'}>
              {name}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {metrics.filter(isTold).map((metric) => (
          <MetricRow key={metric.metric} metric={metric} />
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

const cellsOf = ({ unit, type, sum, rate, avg, last, p50, p95, p99, max }: MetricValue) => {
  if (type === 'counter') return [measured(sum, unit), `${measured(rate, unit)}/s`, '', '', '', ''];
  if (type === 'gauge') return [measured(last ?? avg, unit), '', '', '', '', measured(max, unit)];
  return ['', '', measured(p50, unit), measured(p95, unit), measured(p99, unit), measured(max, unit)];
};

const MetricRow = ({ metric }: { metric: MetricValue }) => (
  <Table.Tr>
    <Table.Td>{metric.metric}</Table.Td>
    {cellsOf(metric).map((cell, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the cells are the columns
      <Table.Td key={i} ta="right">
        {cell}
      </Table.Td>
    ))}
  </Table.Tr>
);
