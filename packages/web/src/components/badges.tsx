import { Badge } from '@mantine/core';
import { agentStates, taskStates, verdicts } from '../lib/task-status.ts';

interface State {
  readonly name: string;
  readonly color: string;
}

const StateBadge = ({ value, table }: { value: number; table: readonly State[] }) => {
  const { name, color } = table[value] ?? { name: String(value), color: 'gray' };
  return (
    <Badge color={color} variant="dot" tt="none">
      {name}
    </Badge>
  );
};

export const TaskBadge = ({ value }: { value: number }) => <StateBadge value={value} table={taskStates} />;
export const VerdictBadge = ({ value }: { value: number }) => <StateBadge value={value} table={verdicts} />;
export const AgentBadge = ({ value }: { value: number }) => <StateBadge value={value} table={agentStates} />;
