import { Accordion, Title } from '@mantine/core';
import type { MetricValue, Rfc2544Result, RunSummary as Summary } from '@rushhour/contract';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { duration, howMany, measured, scaled } from '../../../lib/units.ts';

const { run } = text;
const { rfc2544 } = run;

const rate = (value: number | undefined) => (value === undefined ? '–' : howMany(Math.round(value)));

const rfc2544Cells = ({ frameSize, throughput, latency, frameLoss, backToBack }: Rfc2544Result): string[] => [
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

const rfc2544Columns = rfc2544.columns.map(
  (header, i): DataColumn<Rfc2544Result> => ({ header, align: 'right', cell: (row) => rfc2544Cells(row)[i] }),
);

/** The results of RFC 2544, one row per frame size; the report contains every trial. */
export const RunRfc2544 = ({ rows }: { rows: readonly Rfc2544Result[] }) => (
  <Section title={rfc2544.title}>
    <DataTable
      columns={rfc2544Columns}
      rows={rows}
      keyOf={(row) => `${row.configurationIndex}-${row.frameSize}`}
      minWidth={900}
    />
  </Section>
);

type Side = Summary[number];
/** Becomes part of an HTML id, which must not contain spaces. */
const keyOf = ({ configurationIndex, role }: Side) => `${configurationIndex}-${role}`;

/** All metrics of a run by entry and side; the first client is expanded. */
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
              <DataTable
                columns={metricColumns}
                rows={side.metrics.filter(isShown)}
                keyOf={({ metric }) => metric}
                minWidth={500}
              />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </section>
  );
};

/** Hides counters that stayed at zero, and metrics of agents, which have their own table. */
const isShown = ({ metric, type, sum }: MetricValue) =>
  !metric.startsWith('agent.') && (type !== 'counter' || sum !== 0);

const metricCells = ({ unit, type, sum, rate: perSecond, avg, last, p50, p95, p99, max }: MetricValue): string[] => {
  if (type === 'counter') return [measured(sum, unit), measured(perSecond, `${unit}/s`), '', '', '', ''];
  if (type === 'gauge') return [measured(last ?? avg, unit), '', '', '', '', measured(max, unit)];
  return ['', '', measured(p50, unit), measured(p95, unit), measured(p99, unit), measured(max, unit)];
};

const metricColumns: readonly DataColumn<MetricValue>[] = [
  { header: run.metric, cell: ({ metric }) => metric },
  ...run.columns.map(
    (header, i): DataColumn<MetricValue> => ({ header, align: 'right', cell: (row) => metricCells(row)[i] }),
  ),
];
