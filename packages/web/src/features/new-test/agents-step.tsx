import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import type { TaskTemplate } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';
import type { Agent, NewTestForm } from './new-test-form.ts';

const { newTest: words } = text;

interface AgentsStepProps {
  template: TaskTemplate;
  agents: readonly Agent[] | undefined;
  form: NewTestForm;
  onChange: (members: Partial<NewTestForm>) => void;
  onNext: () => void;
}

/** The agents of the test. */
export const AgentsStep = ({ template, agents, form, onChange, onNext }: AgentsStepProps) => {
  const isReady = template.slots.every(({ name }) => form.agentMap[name] !== undefined);
  return (
    <Stack mt="md" maw={640}>
      <Text size="sm" c="dimmed">
        {template.description}
      </Text>
      {agents?.length === 0 && <Alert color="yellow">{words.noAgents}</Alert>}
      {template.slots.map(({ name }) => (
        <Select
          key={name}
          label={words.agentOf(labelOf(name))}
          data={(agents ?? []).map((agent) => ({ value: String(agent.id), label: agent.name }))}
          value={form.agentMap[name] === undefined ? null : String(form.agentMap[name])}
          onChange={(id) => id !== null && onChange({ agentMap: { ...form.agentMap, [name]: Number(id) } })}
          searchable
          required
        />
      ))}
      <Group justify="flex-end">
        <Button onClick={onNext} disabled={!isReady}>
          {words.next}
        </Button>
      </Group>
    </Stack>
  );
};
