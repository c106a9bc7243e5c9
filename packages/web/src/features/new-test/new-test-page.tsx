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
  Title,
  UnstyledButton,
} from '@mantine/core';
import type { TaskTemplate, TemplateParameter } from '@rushhour/contract';
import { agentStatus } from '@rushhour/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { EmptyState, Guarded } from '../../components/page-states.tsx';
import { labelOf } from '../../components/schema-form/schema.ts';
import { sentenceOf } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import classes from './new-test-page.module.css';

const { newTest } = text;
type Values = Record<string, number | string | boolean>;

/** What, between whom, how hard and how long: three steps to running traffic, nothing to type. */
export const NewTestPage = () => (
  <Guarded needs={['tasks', 'fromTemplate']}>
    <NewTest />
  </Guarded>
);

const NewTest = () => {
  const [step, setStep] = useState(0);
  const [template, setTemplate] = useState<TaskTemplate>();
  const [agentMap, setAgentMap] = useState<Record<string, number>>({});
  const [values, setValues] = useState<Values>({});
  const navigate = useNavigate();
  const agents = useOnlineAgents();
  const start = useMutation({
    mutationFn: async (isStarted: boolean) => {
      if (template === undefined) throw new Error(newTest.chooseFirst);
      const { data: id } = await client.tasks.fromTemplate({
        body: { templateID: template.id, comment: template.name, agentMap, parameters: values },
      });
      if (isStarted) await client.tasks.start({ params: { id } });
      return id;
    },
    onSuccess: (id) => navigate({ to: `/tasks/${id}` }),
  });
  const choose = (chosen: TaskTemplate) => {
    setTemplate(chosen);
    setAgentMap(proposed(chosen, agents ?? []));
    setValues(
      Object.fromEntries(
        chosen.parameters.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]])),
      ),
    );
    setStep(1);
  };
  return (
    <Stack maw={900}>
      <Title order={1} size="h2">
        {text.nav.newTest}
      </Title>
      <Stepper active={step} onStepClick={setStep} allowNextStepsSelect={template !== undefined} size="sm">
        <Stepper.Step label={newTest.template}>
          <Templates chosen={template?.id} onChoose={choose} />
        </Stepper.Step>
        <Stepper.Step label={newTest.agents}>
          {template && (
            <Stack mt="md">
              {agents?.length === 0 && <Alert color="yellow">{newTest.noAgents}</Alert>}
              {template.slots.map(({ name }) => (
                <Select
                  key={name}
                  label={newTest.agentOf(labelOf(name))}
                  data={(agents ?? []).map((agent) => ({ value: String(agent.id), label: agent.name }))}
                  value={agentMap[name] === undefined ? null : String(agentMap[name])}
                  onChange={(value) => value !== null && setAgentMap({ ...agentMap, [name]: Number(value) })}
                  required
                />
              ))}
              <Group justify="flex-end">
                <Button onClick={() => setStep(2)}>{newTest.next}</Button>
              </Group>
            </Stack>
          )}
        </Stepper.Step>
        <Stepper.Step label={newTest.load}>
          {template && (
            <Stack mt="md">
              {template.parameters.map((parameter) => (
                <ParameterField
                  key={parameter.name}
                  parameter={parameter}
                  value={values[parameter.name]}
                  onChange={(value) => setValues({ ...values, [parameter.name]: value })}
                />
              ))}
              {start.error && (
                <Alert color="red" role="alert" style={{ whiteSpace: 'pre-line' }}>
                  {sentenceOf(start.error)}
                </Alert>
              )}
              <Group justify="flex-end">
                <Button variant="default" loading={start.isPending} onClick={() => start.mutate(false)}>
                  {newTest.keep}
                </Button>
                <Button loading={start.isPending} onClick={() => start.mutate(true)}>
                  {newTest.start}
                </Button>
              </Group>
            </Stack>
          )}
        </Stepper.Step>
      </Stepper>
    </Stack>
  );
};

const useOnlineAgents = () =>
  useQuery({
    queryKey: ['agents', 'list', 'online'],
    queryFn: async () =>
      (
        await client.agents.list({
          query: { status: `${agentStatus.online},${agentStatus.busy}`, count: 100, key: 'name', order: 'asc' },
        })
      ).data,
    refetchInterval: 5000,
  }).data;

/** Agents for the slots: a different one each as long as there are enough; names that say so come first. */
const proposed = ({ slots }: TaskTemplate, agents: readonly { id: number; name: string }[]) => {
  const free = [...agents];
  return Object.fromEntries(
    slots.flatMap(({ name, role }) => {
      const fitting = free.findIndex((agent) => agent.name.includes(role));
      const [agent] = free.splice(Math.max(0, fitting), 1);
      const chosen = agent ?? agents.at(-1);
      return chosen === undefined ? [] : [[name, chosen.id]];
    }),
  );
};

const Templates = ({
  chosen,
  onChoose,
}: {
  chosen: number | undefined;
  onChoose: (template: TaskTemplate) => void;
}) => {
  const { data } = useQuery({
    queryKey: ['taskTemplates', 'list', 'new test'],
    queryFn: async () => (await client.taskTemplates.list({ query: { count: 100, key: 'id', order: 'asc' } })).data,
  });
  if (data === undefined) return <Skeleton height={200} mt="md" />;
  if (data.length === 0) return <EmptyState title={newTest.noTemplates} />;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} mt="md">
      {data.map((template) => (
        <UnstyledButton
          key={template.id}
          className={classes['choice'] ?? ''}
          aria-pressed={template.id === chosen}
          onClick={() => onChoose(template)}
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
