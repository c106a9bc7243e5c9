import { Card, SimpleGrid, Text } from '@mantine/core';
import { text } from '../../../lib/text.ts';
import { duration } from '../../../lib/units.ts';
import type { Rate, SecurityReport } from './security-report.ts';

const { security } = text;

const percent = (share: number | null) => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);

const intervalOf = ({ ci95, n, isGraded }: Rate) => {
  if (ci95 === null) return security.noData;
  const [low, high] = ci95;
  const range = security.interval((low * 100).toFixed(1), (high * 100).toFixed(1), n);
  return isGraded ? range : `${range}; ${security.tooFew}`;
};

const RateCard = ({ label, value, note }: { label: string; value: string; note: string }) => (
  <Card withBorder padding="sm">
    <Text size="sm">{label}</Text>
    <Text fz={26} fw={650} className="numbers">
      {value}
    </Text>
    <Text size="xs" c="dimmed" className="numbers">
      {note}
    </Text>
  </Card>
);

/** The rates of a run, each with its 95 % confidence interval. */
export const RateCards = ({ report: { rates } }: { report: SecurityReport }) => {
  const shares = [
    [security.blockRate, rates.blockRate],
    [security.falsePositives, rates.falsePositiveRate],
    [security.coverage, rates.coverage],
    [security.resistance, rates.evasionResistance],
    [security.detection, rates.detectionRate],
  ] as const;
  const latencies = [
    [security.baselineLatency, rates.quietLatencyMs],
    [security.latency, rates.benignLatencyMs],
  ] as const;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
        <RateCard label={security.score} value={percent(rates.balancedScore)} note={security.scoreOf} />
        {shares.map(([label, rate]) => (
          <RateCard key={label} label={label} value={percent(rate.value)} note={intervalOf(rate)} />
        ))}
      </SimpleGrid>
      {latencies.map(
        ([label, latency]) =>
          latency && (
            <Text key={label} size="sm" c="dimmed" className="numbers">
              {label} p50 {duration(latency.p50 * 1000)} · p95 {duration(latency.p95 * 1000)} · p99{' '}
              {duration(latency.p99 * 1000)}
            </Text>
          ),
      )}
    </>
  );
};
