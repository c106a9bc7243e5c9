import { Alert, Button, Group, Stack } from '@mantine/core';
import { agentStatus, type TaskTemplate } from '@rushhour/contract';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';
import type { Agent, NewTestForm } from './new-test-form.ts';
import { TemplateHeading } from './template-heading.tsx';

const { newTest: words } = text;
const connected = { status: `${agentStatus.online},${agentStatus.busy}` };

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
      <TemplateHeading template={template} />
      {agents?.length === 0 && <Alert color="yellow">{words.noAgents}</Alert>}
      {template.slots.map(({ name }) => (
        <RecordSelect
          key={name}
          name="agents"
          label={words.agentOf(labelOf(name))}
          listFilter={connected}
          value={form.agentMap[name]}
          onChange={(id) => id !== undefined && onChange({ agentMap: { ...form.agentMap, [name]: id } })}
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
