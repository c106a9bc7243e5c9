import { Alert, Button, Grid, Group, Select, Skeleton, Stack, Tabs, Text, TextInput, Title } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { TaskDraft } from '@rushhour/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Guarded } from '../../../components/page-states.tsx';
import type { ObjectSchema } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import { sentenceOf, useToasts } from '../../../components/toasts.tsx';
import { client } from '../../../lib/client.ts';
import { type Issues, issuesIn, issuesOf } from '../../../lib/issues.ts';
import { useMay } from '../../../lib/session.ts';
import { text } from '../../../lib/text.ts';
import { CheckPanel } from './check-panel.tsx';
import { EntriesEditor } from './entries-editor.tsx';
import { PlaneEditor } from './planes-editor.tsx';
import { draftOf, emptyForm, formOf, type TaskForm } from './task-form.ts';
import { ThresholdsEditor } from './thresholds-editor.tsx';
import { useMetricNames } from './use-plugins.ts';
import { useValidation } from './use-validation.ts';

const { editor } = text;

/** A task in the making, or one that is changed. */
export const TaskEditorPage = () => (
  <Guarded needs={['tasks', 'create']}>
    <TaskEditor />
  </Guarded>
);

const TaskEditor = () => {
  const params = useParams({ strict: false });
  const id = params.id === undefined ? undefined : Number(params.id);
  const { data, error } = useQuery({
    queryKey: ['tasks', 'edited', id],
    queryFn: () => readTask(id ?? 0),
    enabled: id !== undefined,
    // What is being typed must not be replaced by what is read again.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (error) return <Text role="alert">{sentenceOf(error)}</Text>;
  if (id !== undefined && data === undefined) return <Skeleton height={400} />;
  return <Editor key={id ?? 'new'} task={data?.task} initial={data?.form ?? emptyForm} />;
};

const readTask = async (id: number) => {
  const [task, thresholds] = await Promise.all([
    client.tasks.get({ params: { id } }),
    client.tasks.thresholds({ params: { id } }),
  ]);
  return { task: task.data, form: formOf(task.data, thresholds.data) };
};

const dumpsSchema: ObjectSchema = { properties: { dumps: TaskDraft.properties.dumps as never }, required: ['dumps'] };

const Editor = ({ task, initial }: { task: Task | undefined; initial: TaskForm }) => {
  const [form, setForm] = useState(initial);
  const [refused, setRefused] = useState<Issues>({});
  const { checked, isChecking, error } = useValidation(form, task !== undefined);
  const change = (members: Partial<TaskForm>) => {
    setForm({ ...form, ...members });
    setRefused({});
  };
  const errors = checked?.issues.filter(({ severity }) => severity === 'error') ?? [];
  const issues = { ...issuesOf(errors), ...refused };
  const pluginIds = form.configuration.flatMap(({ plugin, subplugins }) => [
    plugin.id,
    ...(subplugins?.subplugins ?? []).map((child) => child.plugin.id),
  ]);
  const metrics = useMetricNames(pluginIds);
  return (
    <Stack>
      <Title order={1} size="h2">
        {task === undefined ? editor.newTitle : editor.editTitle(task.comment || `#${task.id}`)}
      </Title>
      <Grid>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack>
            <Basics form={form} onChange={change} issues={issues} />
            <Tabs defaultValue="entries" keepMounted={false}>
              <Tabs.List>
                <Tabs.Tab value="entries">{editor.entries(form.configuration.length)}</Tabs.Tab>
                <Tabs.Tab value="thresholds">{editor.thresholds(form.thresholds.length)}</Tabs.Tab>
                <Tabs.Tab value="planes">{editor.planesTab}</Tabs.Tab>
              </Tabs.List>
              <Tabs.Panel value="entries" pt="md">
                <EntriesEditor
                  entries={form.configuration}
                  onChange={(configuration) => change({ configuration })}
                  issues={issues}
                  path="/configuration"
                />
              </Tabs.Panel>
              <Tabs.Panel value="thresholds" pt="md">
                <ThresholdsEditor
                  thresholds={form.thresholds}
                  onChange={(thresholds) => change({ thresholds })}
                  metrics={metrics}
                  issues={issues}
                />
              </Tabs.Panel>
              <Tabs.Panel value="planes" pt="md">
                <Planes form={form} onChange={change} issues={issues} />
              </Tabs.Panel>
            </Tabs>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack pos="sticky" top={68}>
            <CheckPanel checked={checked} isChecking={isChecking} error={error} />
            <SaveButtons task={task} form={form} onRefused={setRefused} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
};

interface PartProps {
  form: TaskForm;
  onChange: (members: Partial<TaskForm>) => void;
  issues: Issues;
}

const Basics = ({ form, onChange, issues }: PartProps) => {
  const may = useMay();
  const { data: projects = [] } = useQuery({
    queryKey: ['projects', 'choices', 'editor'],
    queryFn: async () => (await client.projects.list({ query: { count: 100 } })).data,
    enabled: may('projects', 'list'),
  });
  return (
    <Group grow align="flex-start" preventGrowOverflow={false}>
      <TextInput
        label={editor.comment}
        value={form.comment}
        onChange={(event) => onChange({ comment: event.currentTarget.value })}
        miw={220}
        {...(issues['/comment'] !== undefined && { error: issues['/comment'] })}
      />
      <Select
        label={editor.project}
        data={projects.map(({ ID, name }) => ({ value: String(ID), label: name }))}
        value={form.projectID === null ? null : String(form.projectID)}
        onChange={(id) => onChange({ projectID: id === null ? null : Number(id) })}
        clearable
        searchable
        miw={160}
        {...(issues['/projectID'] !== undefined && { error: issues['/projectID'] })}
      />
    </Group>
  );
};

const Planes = ({ form, onChange, issues }: PartProps) => (
  <Stack>
    <PlaneEditor
      plane="accessPlane"
      entries={form.accessPlane}
      onChange={(entries) => onChange({ accessPlane: entries as unknown as TaskForm['accessPlane'] })}
      issues={issues}
    />
    <PlaneEditor
      plane="controlPlane"
      entries={form.controlPlane}
      onChange={(entries) => onChange({ controlPlane: entries as unknown as TaskForm['controlPlane'] })}
      issues={issues}
    />
    <SchemaFields
      schema={dumpsSchema}
      value={{ dumps: form.dumps }}
      onChange={({ dumps }: Value) => onChange({ dumps: (dumps ?? {}) as TaskForm['dumps'] })}
      issues={issues}
      path=""
    />
  </Stack>
);

interface SaveButtonsProps {
  task: Task | undefined;
  form: TaskForm;
  onRefused: (issues: Issues) => void;
}

const SaveButtons = ({ task, form, onRefused }: SaveButtonsProps) => {
  const [made, setMade] = useState(task?.id);
  const may = useMay();
  const toasts = useToasts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: async (isStarted: boolean) => {
      const id = await store(form, made, task?.updatedAt);
      setMade(id);
      await client.tasks.setThresholds({ body: { id, thresholds: [...form.thresholds] } });
      if (isStarted) await client.tasks.start({ params: { id } });
      return id;
    },
    onSuccess: async (id, isStarted) => {
      toasts.done(text.table.saved);
      await queries.invalidateQueries({ queryKey: ['tasks'] });
      await navigate({ to: '/tasks/$id', params: { id: String(id) }, search: isStarted ? {} : { tab: 'definition' } });
    },
    onError: (error) => onRefused(issuesIn(error)),
  });
  const back = made === undefined ? '/resources/tasks' : `/tasks/${made}`;
  return (
    <Stack gap="xs">
      {save.error && (
        <Alert color="red" role="alert" style={{ whiteSpace: 'pre-line' }}>
          {sentenceOf(save.error)}
        </Alert>
      )}
      <Group>
        <Button loading={save.isPending} disabled={form.configuration.length === 0} onClick={() => save.mutate(false)}>
          {text.table.save}
        </Button>
        {may('tasks', 'start') && (
          <Button
            variant="light"
            loading={save.isPending}
            disabled={form.configuration.length === 0}
            onClick={() => save.mutate(true)}
          >
            {editor.saveAndStart}
          </Button>
        )}
        <Button variant="subtle" color="gray" renderRoot={(props) => <Link {...props} to={back} />}>
          {text.table.cancel}
        </Button>
      </Group>
    </Stack>
  );
};

/** Creates or changes the task; somebody else's change in between is refused by the controller. */
const store = async (form: TaskForm, id: number | undefined, updatedAt: string | undefined): Promise<number> => {
  const body = draftOf(form);
  if (id === undefined) return (await client.tasks.create({ body })).data;
  await client.tasks.update({ body: { ...body, id, ...(updatedAt !== undefined && { updatedAt }) } });
  return id;
};
