import { Text } from '@mantine/core';
import type { Estimate } from '@rushhour/contract';
import { text } from '../lib/text.ts';
import { clock, scaled } from '../lib/units.ts';

const { editor } = text;

/** What a task will do, as far as its definition tells. */
export const EstimateText = ({ estimate }: { estimate: Estimate }) => {
  const { agents, connections, pps, bps, durationSec, attempts } = estimate;
  return (
    <Text size="sm" className="numbers">
      {[
        editor.agents(agents),
        ...(connections > 0 ? [`${scaled(connections)} ${editor.connections}`] : []),
        ...(attempts > 0 ? [`${scaled(attempts)} ${editor.attempts}`] : []),
        ...(pps > 0 ? [scaled(pps, 'pps')] : []),
        ...(bps > 0 ? [scaled(bps, 'bit/s')] : []),
        durationSec === null ? editor.untilStopped : clock(durationSec),
      ].join(' · ')}
    </Text>
  );
};
