import { Button, Group, Stack } from '@mantine/core';
import type { TaskTemplate } from '@rushhour/contract';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import { useStartTask } from '../../components/start-task.tsx';
import { TemplateThresholds } from '../../components/template-thresholds.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { issuesIn } from '../../lib/issues.ts';
import { text } from '../../lib/text.ts';
import { EstimateLine } from './estimate.tsx';
import { loadShapeOf } from './load-shape.ts';
import { LoadTimeline } from './load-timeline.tsx';
import { type NewTestForm, problemOf } from './new-test-form.ts';
import { ParameterField } from './parameter-field.tsx';
import { TemplateHeading } from './template-heading.tsx';

const { newTest: words } = text;

interface LoadStepProps {
  template: TaskTemplate;
  form: NewTestForm;
  onChange: (members: Partial<NewTestForm>) => void;
}

const createTask = async (template: TaskTemplate, { name, projectID, device, agentMap, values }: NewTestForm) => {
  const { data } = await client.tasks.fromTemplate({
    body: {
      ...{ templateID: template.id, comment: name.trim() || template.name, agentMap, parameters: values },
      ...(projectID !== undefined && { projectID }),
      ...(device && { device: { ...device, name: device.name.trim() } }),
    },
  });
  return data;
};

/** The parameters of the template, and the buttons that create the task. */
export const LoadStep = ({ template, form, onChange }: LoadStepProps) => {
  const navigate = useNavigate();
  const toasts = useToasts();
  const [created, setCreated] = useState<number>();
  const open = (id: number) => navigate({ to: '/tasks/$id', params: { id: String(id) }, ignoreBlocker: true });
  const starting = useStartTask({ onStarted: open, onError: toasts.problem });
  const create = useMutation({
    mutationFn: async (_isStarted: boolean) => created ?? (await createTask(template, form)),
    onSuccess: (id, isStarted) => {
      setCreated(id);
      return isStarted ? starting.start(id) : open(id);
    },
  });
  const issues = issuesIn(create.error);
  const isComplete = template.parameters.every((one) => problemOf(one, form.values[one.name]) === undefined);
  const button = { loading: create.isPending || starting.isStarting, disabled: !isComplete };
  const shape = loadShapeOf(template);
  const set = (name: string, value: Values[string] | undefined) =>
    onChange({ values: withValue(form.values, name, value) });
  return (
    <Stack mt="md" maw={640}>
      <TemplateHeading template={template} />
      {shape !== undefined && <LoadTimeline shape={shape} values={form.values} onChange={set} />}
      {template.parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          agentId={form.agentMap[template.slots[0]?.name ?? '']}
          value={form.values[parameter.name]}
          issue={issues[`/parameters/${parameter.name}`]}
          onChange={(value) => set(parameter.name, value)}
        />
      ))}
      {isComplete && <EstimateLine template={template} form={form} />}
      <TemplateThresholds template={template} />
      {starting.dialog}
      {create.error && <Problem error={create.error} />}
      <Group justify="flex-end">
        <Button {...button} variant="default" onClick={() => create.mutate(false)}>
          {words.keep}
        </Button>
        <Button {...button} onClick={() => create.mutate(true)}>
          {words.start}
        </Button>
      </Group>
    </Stack>
  );
};

type Values = NewTestForm['values'];

/** An emptied field has no value. */
const withValue = (values: Values, name: string, value: Values[string] | undefined): Values => {
  const { [name]: _, ...rest } = values;
  return value === undefined ? rest : { ...rest, [name]: value };
};
