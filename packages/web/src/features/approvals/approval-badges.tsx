import { Badge, Tooltip } from '@mantine/core';
import type { Approval } from '@rushhour/contract';
import { text } from '../../lib/text.ts';

const stateColors: Record<Approval['state'], string> = {
  pending: 'orange',
  used: 'teal',
  expired: 'gray',
  revoked: 'gray',
  rejected: 'red',
};
const riskColors: Record<string, string> = { R1: 'gray', RS: 'gray', R2: 'yellow', R3: 'red' };

export const ApprovalState = ({ state }: Pick<Approval, 'state'>) => (
  <Badge variant="dot" tt="none" color={stateColors[state]}>
    {text.approvals.states[state]}
  </Badge>
);

export const RiskBadge = ({ risk }: { risk: string }) => (
  <Tooltip label={text.approvals.risks[risk] ?? risk}>
    <Badge variant="dot" tt="none" color={riskColors[risk] ?? 'gray'}>
      {risk}
    </Badge>
  </Tooltip>
);
