import { Badge } from '@mantine/core';
import type { AttackResult } from '@rushhour/contract';
import { text } from '../../../lib/text.ts';

const colors = {
  blocked: 'teal',
  modified: 'cyan',
  passed: 'red',
  inconclusive: 'yellow',
  error: 'orange',
  skipped: 'gray',
} as const satisfies Record<AttackResult['outcome'], string>;

export const OutcomeBadge = ({ outcome }: Pick<AttackResult, 'outcome'>) => (
  <Badge color={colors[outcome]} variant="dot" tt="none">
    {text.security.outcomes[outcome]}
  </Badge>
);
