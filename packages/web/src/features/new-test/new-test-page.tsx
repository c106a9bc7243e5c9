import {
  Alert,
  Button,
  Card,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Skeleton,
  Stack,
  Stepper,
  Switch,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import type { TaskTemplate, TemplateParameter } from '@rushhour/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { EmptyState, PageHeading } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { labelOf } from '../../components/schema-form/schema.ts';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import classes from './new-test-page.module.css';

const { newTest: words } = text;
type Values = Record<string, number | string | boolean>;
type AgentMap = Record<string, number>;
interface Agent {
  id: number;
  name: string;
}

/** Three steps from a template to a running test: test type, agents, load and duration. */
export const NewTestPage = () => {
  const [step, setStep] = useState(0);
  const [template, setTemplate] = useState<TaskTemplate>();
  const [agentMap, setAgentMap] = useState<AgentMap>({});
  const [values, setValues] = useState<Values>({});
  const agents = useOnlineAgents();
  const select = (selected: TaskTemplate) => {
    setTemplate(selected);
    setAgentMap(suggestedAgents(selected, agents ?? []));
    setValues(defaultsOf(selected));
    setStep(1);
  };
  return (
    <Stack maw={900}>
      <PageHeading title={text.nav.newTest} />
      <Stepper active={step} onStepClick={setStep} allowNextStepsSelect={template !== undefined} size="sm">
        <Stepper.Step label={words.template}>
          <Templates selected={template?.id} onSelect={select} />
        </Stepper.Step>
        <Stepper.Step label={words.agents}>
          {template && (
            <AgentsStep
              template={template}
              agents={agents}
              value={agentMap}
              onChange={setAgentMap}
              onNext={() => setStep(2)}
            />
          )}
        </Stepper.Step>
        <Stepper.Step label={words.load}>
          {template && <LoadStep template={template} agentMap={agentMap} values={values} onChange={setValues} />}
        </Stepper.Step>
      </Stepper>
    </Stack>
  );
};

const useOnlineAgents = (): readonly Agent[] | undefined =>
  useQuery({
    queryKey: ['agents', 'list', 'online'],
    queryFn: async () =>
      (await client.agents.list({ query: { status: '1,2', count: 100, key: 'name', order: 'asc' } })).data,
    refetchInterval: 5000,
  }).data;

const defaultsOf = ({ parameters }: TaskTemplate): Values =>
  Object.fromEntries(parameters.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]])));

/** An agent for each slot: one with the role in its name first, and different agents as long as there are enough. */
const suggestedAgents = ({ slots }: TaskTemplate, agents: readonly Agent[]): AgentMap => {
  const free = [...agents];
  return Object.fromEntries(
    slots.flatMap(({ name, role }) => {
      const index = free.findIndex((agent) => agent.name.includes(role));
      const [agent] = free.splice(Math.max(0, index), 1);
      const suggested = agent ?? agents.at(-1);
      return suggested === undefined ? [] : [[name, suggested.id]];
    }),
  );
};

interface TemplatesProps {
  selected: number | undefined;
  onSelect: (template: TaskTemplate) => void;
}

const Templates = ({ selected, onSelect }: TemplatesProps) => {
  const { data } = useQuery({
    queryKey: ['taskTemplates', 'list', 'new test'],
    queryFn: async () => (await client.taskTemplates.list({ query: { count: 100, key: 'id', order: 'asc' } })).data,
  });
  if (data === undefined) return <Skeleton height={200} mt="md" />;
  if (data.length === 0) return <EmptyState title={words.noTemplates} />;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} mt="md">
      {data.map((template) => (
        <UnstyledButton
          key={template.id}
          className={classes['choice'] ?? ''}
          aria-pressed={template.id === selected}
          onClick={() => onSelect(template)}
        >
          <Card withBorder h="100%">
            <Text fw={600}>{template.name}</Text>
            <Text size="sm" c="dimmed">
              {template.description}
            </Text>
          </Card>
        </UnstyledButton>
      ))}
    </SimpleGrid>
  );
};

interface AgentsStepProps {
  template: TaskTemplate;
  agents: readonly Agent[] | undefined;
  value: AgentMap;
  onChange: (value: AgentMap) => void;
  onNext: () => void;
}

const AgentsStep = ({ template, agents, value, onChange, onNext }: AgentsStepProps) => (
  <Stack mt="md">
    {agents?.length === 0 && <Alert color="yellow">{words.noAgents}</Alert>}
    {template.slots.map(({ name }) => (
      <Select
        key={name}
        label={words.agentOf(labelOf(name))}
        data={(agents ?? []).map((agent) => ({ value: String(agent.id), label: agent.name }))}
        value={value[name] === undefined ? null : String(value[name])}
        onChange={(id) => id !== null && onChange({ ...value, [name]: Number(id) })}
        required
      />
    ))}
    <Group justify="flex-end">
      <Button onClick={onNext}>{words.next}</Button>
    </Group>
  </Stack>
);

interface LoadStepProps {
  template: TaskTemplate;
  agentMap: AgentMap;
  values: Values;
  onChange: (values: Values) => void;
}

const LoadStep = ({ template, agentMap, values, onChange }: LoadStepProps) => {
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: async (isStarted: boolean) => {
      const { data: id } = await client.tasks.fromTemplate({
        body: { templateID: template.id, comment: template.name, agentMap, parameters: values },
      });
      if (isStarted) await client.tasks.start({ params: { id } });
      return id;
    },
    onSuccess: (id) => navigate({ to: `/tasks/${id}` }),
  });
  return (
    <Stack mt="md">
      {template.parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={values[parameter.name]}
          onChange={(value) => onChange({ ...values, [parameter.name]: value })}
        />
      ))}
      {create.error && <Problem error={create.error} />}
      <Group justify="flex-end">
        <Button variant="default" loading={create.isPending} onClick={() => create.mutate(false)}>
          {words.keep}
        </Button>
        <Button loading={create.isPending} onClick={() => create.mutate(true)}>
          {words.start}
        </Button>
      </Group>
    </Stack>
  );
};

interface ParameterFieldProps {
  parameter: TemplateParameter;
  value: number | string | boolean | undefined;
  onChange: (value: number | string | boolean) => void;
}

const ParameterField = ({ parameter: { name, type, min, max, description }, value, onChange }: ParameterFieldProps) => {
  const common = { label: labelOf(name), description };
  if (type === 'boolean') {
    return <Switch {...common} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
  }
  if (type === 'string') {
    return (
      <TextInput {...common} value={String(value ?? '')} onChange={(event) => onChange(event.currentTarget.value)} />
    );
  }
  return (
    <NumberInput
      {...common}
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      allowDecimal={type === 'number'}
      thousandSeparator=" "
      value={Number(value ?? 0)}
      onChange={(next) => next !== '' && onChange(Number(next))}
    />
  );
};
