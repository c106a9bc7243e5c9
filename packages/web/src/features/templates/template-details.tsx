import { Stack, Text } from '@mantine/core';
import type { TaskTemplate, TemplateParameter } from '@rushhour/contract';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { TemplateThresholds } from '../../components/template-thresholds.tsx';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';

const { templates: words } = text;

const shown = (value: unknown, unit = '') =>
  value === undefined ? '' : `${typeof value === 'number' ? value.toLocaleString('en') : String(value)} ${unit}`.trim();

const columns: readonly DataColumn<TemplateParameter>[] = [
  { header: words.parameter, cell: ({ name, label }) => label ?? labelOf(name) },
  { header: words.default, align: 'right', cell: ({ default: value, unit }) => shown(value, unit) || words.asked },
  {
    header: words.range,
    align: 'right',
    isMinor: true,
    cell: ({ min, max, reference }) =>
      reference !== undefined || max === undefined ? '' : words.between(shown(min ?? 0), shown(max)),
  },
  { header: words.meaning, isMinor: true, isLong: true, cell: ({ description }) => description },
];

/** What a template makes: its agents, its parameters and the thresholds of its tests. */
export const TemplateDetails = ({ template }: { template: TaskTemplate }) => (
  <Section title={words.title}>
    <Stack>
      <Text size="sm" maw={760}>
        {template.description}
      </Text>
      {template.slots.length > 0 && (
        <Text size="sm">
          {words.agents}: {template.slots.map(({ name, requires }) => words.slot(labelOf(name), requires)).join(' · ')}
        </Text>
      )}
      {template.parameters.length > 0 && (
        <DataTable label={words.parameters} columns={columns} rows={template.parameters} keyOf={({ name }) => name} />
      )}
      <TemplateThresholds template={template} />
    </Stack>
  </Section>
);
