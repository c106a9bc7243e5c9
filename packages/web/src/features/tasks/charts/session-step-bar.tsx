import { Group, Progress, Text } from '@mantine/core';
import type { RunSummary } from '@rushhour/contract';
import { IconArrowNarrowRight } from '@tabler/icons-react';
import { text } from '../../../lib/text.ts';
import { howMany } from '../../../lib/units.ts';
import { type SessionStep, sessionStepsOf } from './session-steps.ts';

const colors: Readonly<Record<SessionStep['kind'], string>> = {
  waiting: 'gray',
  setup: 'yellow',
  up: 'green',
  over: 'dark',
};

/** How many access sessions of a run are in which step: the way from the start to the end, with a bar of the shares. */
export const SessionStepBar = ({ summary }: { summary: RunSummary }) => {
  const steps = sessionStepsOf(summary);
  const total = steps.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  return (
    <section aria-label={text.rows.byStep}>
      <Group gap={6} component="ol" p={0} my={4} style={{ listStyle: 'none' }}>
        {steps.map(({ label, count }, i) => (
          <Group key={label} component="li" gap={6} wrap="nowrap">
            {i > 0 && <IconArrowNarrowRight size={14} aria-hidden />}
            <Text size="sm" {...(count === 0 && { c: 'dimmed' })}>
              {label} <b>{howMany(count)}</b>
            </Text>
          </Group>
        ))}
      </Group>
      <Progress.Root size="md" aria-hidden>
        {steps.map(({ label, count, kind }) => (
          <Progress.Section key={label} value={(100 * count) / total} color={colors[kind]} />
        ))}
      </Progress.Root>
    </section>
  );
};
