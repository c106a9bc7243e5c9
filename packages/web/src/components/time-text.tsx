import { Text, Tooltip } from '@mantine/core';
import { absoluteTime, relativeTime } from '../lib/times.ts';

/** A relative time, with the absolute time as tooltip. */
export const TimeText = ({ at, empty = '–' }: { at: string | null | undefined; empty?: string }) =>
  at === null || at === undefined || at === '' ? (
    <Text span c="dimmed" size="sm">
      {empty}
    </Text>
  ) : (
    <Tooltip label={absoluteTime(at)}>
      <time dateTime={at}>{relativeTime(at)}</time>
    </Tooltip>
  );
