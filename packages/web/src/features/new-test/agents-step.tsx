import { Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import type { TaskTemplate } from '@rushhour/contract';
import { DeviceFields } from '../../components/device-fields.tsx';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
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

/** Name, project and device of the test, and its agents. */
export const AgentsStep = ({ template, agents, form, onChange, onNext }: AgentsStepProps) => {
  const isReady = form.name.trim() !== '' && template.slots.every(({ name }) => form.agentMap[name] !== undefined);
  return (
    <Stack mt="md" maw={640}>
      <Text size="sm" c="dimmed">
        {template.description}
      </Text>
      <TextInput
        label={words.name}
        value={form.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        {...(form.name.trim() === '' && { error: words.required })}
        required
      />
      <RecordSelect
        name="projects"
        label={text.editor.project}
        value={form.projectID}
        onChange={(projectID) => onChange({ projectID })}
        clearable
      />
      <DeviceFields device={form.device} onChange={(device) => onChange({ device })} />
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
