import { Badge, Text } from '@mantine/core';

/** Names and colors of task and run states, by status number. */
const taskStates: readonly { name: string; color: string }[] = [
  { name: 'Created', color: 'gray' },
  { name: 'Queued', color: 'blue' },
  { name: 'Preparing', color: 'blue' },
  { name: 'Armed', color: 'blue' },
  { name: 'Running', color: 'orange' },
  { name: 'Paused', color: 'yellow' },
  { name: 'Stopping', color: 'yellow' },
  { name: 'Finished', color: 'teal' },
  { name: 'Stopped', color: 'gray' },
  { name: 'Failed', color: 'red' },
];

const verdicts: readonly { name: string; color: string }[] = [
  { name: 'No verdict', color: 'gray' },
  { name: 'Passed', color: 'teal' },
  { name: 'Failed', color: 'red' },
  { name: 'Inconclusive', color: 'yellow' },
];

const agentStates: readonly { name: string; color: string }[] = [
  { name: 'Never seen', color: 'gray' },
  { name: 'Online', color: 'teal' },
  { name: 'Busy', color: 'orange' },
  { name: 'Suspect', color: 'yellow' },
  { name: 'Offline', color: 'gray' },
  { name: 'Blocked', color: 'red' },
  { name: 'Upgrading', color: 'blue' },
  { name: 'Incompatible', color: 'red' },
];

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
/** Without a verdict there is nothing to look at. */
export const VerdictBadge = ({ value }: { value: number }) =>
  value === 0 ? (
    <Text span size="sm" c="dimmed">
      {verdicts[0]?.name}
    </Text>
  ) : (
    <StateBadge value={value} table={verdicts} />
  );
export const AgentBadge = ({ value }: { value: number }) => <StateBadge value={value} table={agentStates} />;
