import { Card, SimpleGrid, Text } from '@mantine/core';
import type { Kpi } from './run-kpis.ts';

const toneColors = { good: 'teal', bad: 'red' } as const;

/** The main numbers of a run. */
export const KpiTiles = ({ label, kpis }: { label: string; kpis: readonly Kpi[] }) =>
  kpis.length > 0 && (
    <SimpleGrid
      component="section"
      aria-label={label}
      cols={{ base: 2, xs: 3, md: Math.min(6, kpis.length) }}
      spacing="sm"
    >
      {kpis.map((kpi) => (
        <Tile key={kpi.label} {...kpi} />
      ))}
    </SimpleGrid>
  );

const Tile = ({ label, value, note, tone }: Kpi) => (
  <Card
    withBorder
    padding="xs"
    style={tone && { boxShadow: `inset 0 3px 0 var(--mantine-color-${toneColors[tone]}-filled)` }}
  >
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text fz={22} fw={650} lh={1.3} className="numbers" style={{ overflowWrap: 'anywhere' }}>
      {value}
    </Text>
    <Text size="xs" c="dimmed" className="numbers" mih={18} style={{ overflowWrap: 'anywhere' }}>
      {note}
    </Text>
  </Card>
);
