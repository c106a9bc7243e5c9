import { Button, Grid, Group, Skeleton, Stack, Tabs, TextInput } from '@mantine/core';
import { type Task, TaskDraft } from '@rushhour/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { DeviceFields } from '../../../components/device-fields.tsx';
import { FailedPage, PageHeading } from '../../../components/page.tsx';
import { Problem } from '../../../components/problem.tsx';
import { RecordSelect } from '../../../components/schema-form/record-select.tsx';
import type { ObjectSchema } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import { useStartTask } from '../../../components/start-task.tsx';
import { useToasts } from '../../../components/toasts.tsx';
import { UnsavedGuard } from '../../../components/unsaved-guard.tsx';
import { client } from '../../../lib/client.ts';
import { type Issues, issuesIn, issuesOf } from '../../../lib/issues.ts';
import { useMay } from '../../../lib/session.ts';
import { text } from '../../../lib/text.ts';
import { CheckPanel } from './check-panel.tsx';
import { EntriesEditor } from './entries-editor.tsx';
import { PlaneEditor } from './planes-editor.tsx';
import { draftOf, emptyForm, formOf, type TaskForm } from './task-form.ts';
import { ThresholdsEditor } from './thresholds-editor.tsx';
import { TryPanel } from './try-panel.tsx';
import { useMetrics } from './use-plugins.ts';
import { useValidation } from './use-validation.ts';

const { editor } = text;

/** Creates or edits a task. */
export const TaskEditorPage = () => {
  const params = useParams({ strict: false });
  const id = params.id === undefined ? undefined : Number(params.id);
  const { data, error } = useQuery({
    queryKey: ['tasks', 'edited', id],
    queryFn: () => readTask(id ?? 0),
    enabled: id !== undefined,
    // A refresh must not overwrite the form.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (error) return <FailedPage error={error} />;
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
  const [saved, setSaved] = useState(initial);
  const [rejected, setRejected] = useState<Issues>({});
  const { checked, isChecking, error } = useValidation(form, task !== undefined);
  const change = (members: Partial<TaskForm>) => {
    setForm({ ...form, ...members });
    setRejected({});
  };
  const errors = checked?.issues.filter(({ severity }) => severity === 'error') ?? [];
  const part = { form, onChange: change, issues: { ...issuesOf(errors), ...rejected } };
  return (
    <Stack>
      <UnsavedGuard isUnsaved={form !== saved} />
      <PageHeading title={task === undefined ? editor.newTitle : editor.editTitle(task.comment || `#${task.id}`)} />
      <Grid>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack>
            <Basics {...part} />
            <DeviceFields device={form.device} onChange={(device) => change({ device })} />
            <EditorTabs {...part} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack pos="sticky" top={68}>
            <CheckPanel checked={checked} isChecking={isChecking} error={error} />
            <TryPanel form={form} taskId={task?.id} />
            <SaveButtons task={task} form={form} onRejected={setRejected} onSaved={() => setSaved(form)} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
};

const EditorTabs = ({ form, onChange, issues }: PartProps) => {
  const pluginIds = form.configuration.flatMap(({ plugin, subplugins }) => [
    plugin.id,
    ...(subplugins?.subplugins ?? []).map((child) => child.plugin.id),
  ]);
  const metrics = useMetrics(pluginIds);
  return (
    <Tabs defaultValue="entries" keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="entries">{editor.entries(form.configuration.length)}</Tabs.Tab>
        <Tabs.Tab value="thresholds">{editor.thresholds(form.thresholds.length)}</Tabs.Tab>
        <Tabs.Tab value="planes">{editor.planesTab}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="entries" pt="md">
        <EntriesEditor
          entries={form.configuration}
          onChange={(configuration) => onChange({ configuration })}
          issues={issues}
          path="/configuration"
        />
      </Tabs.Panel>
      <Tabs.Panel value="thresholds" pt="md">
        <ThresholdsEditor
          thresholds={form.thresholds}
          onChange={(thresholds) => onChange({ thresholds })}
          metrics={metrics}
          issues={issues}
        />
      </Tabs.Panel>
      <Tabs.Panel value="planes" pt="md">
        <Planes form={form} onChange={onChange} issues={issues} />
      </Tabs.Panel>
    </Tabs>
  );
};

interface PartProps {
  form: TaskForm;
  onChange: (members: Partial<TaskForm>) => void;
  issues: Issues;
}

const errorAt = (issues: Issues, path: string) => (issues[path] === undefined ? {} : { error: issues[path] });

const Basics = ({ form, onChange, issues }: PartProps) => (
  <Group grow align="flex-start" preventGrowOverflow={false}>
    <TextInput
      label={editor.comment}
      value={form.comment}
      onChange={(event) => onChange({ comment: event.currentTarget.value })}
      miw={220}
      {...errorAt(issues, '/comment')}
    />
    <RecordSelect
      name="projects"
      label={editor.project}
      value={form.projectID ?? undefined}
      onChange={(id) => onChange({ projectID: id ?? null })}
      clearable
      miw={160}
      {...errorAt(issues, '/projectID')}
    />
  </Group>
);

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
  onRejected: (issues: Issues) => void;
  onSaved: () => void;
}

const SaveButtons = ({ task, form, onRejected, onSaved }: SaveButtonsProps) => {
  const [id, setId] = useState(task?.id);
  const may = useMay();
  const toasts = useToasts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const open = async (stored: number, search: Record<string, string>) => {
    await queries.invalidateQueries({ queryKey: ['tasks'] });
    await navigate({ to: '/tasks/$id', params: { id: String(stored) }, search, ignoreBlocker: true });
  };
  const starting = useStartTask({ onStarted: (stored) => open(stored, {}), onError: toasts.problem });
  const save = useMutation({
    mutationFn: async (_isStarted: boolean) => {
      const stored = await store(form, id, task?.updatedAt);
      setId(stored);
      await client.tasks.setThresholds({ body: { id: stored, thresholds: [...form.thresholds] } });
      return stored;
    },
    onSuccess: async (stored, isStarted) => {
      toasts.done(text.table.saved);
      onSaved();
      if (isStarted) starting.start(stored);
      else await open(stored, { tab: 'definition' });
    },
    onError: (error) => onRejected(issuesIn(error)),
  });
  const button = { loading: save.isPending || starting.isStarting, disabled: form.configuration.length === 0 };
  const back = id === undefined ? '/resources/tasks' : `/tasks/${id}`;
  return (
    <Stack gap="xs">
      {starting.dialog}
      {save.error && <SaveProblem error={save.error} />}
      <Group>
        <Button {...button} onClick={() => save.mutate(false)}>
          {text.table.save}
        </Button>
        {may('tasks', 'start') && (
          <Button {...button} variant="light" onClick={() => save.mutate(true)}>
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

/** Issues are shown at their fields; here it is said that there are some. */
const SaveProblem = ({ error }: { error: Error }) =>
  Object.keys(issuesIn(error)).length > 0 ? (
    <Problem error={editor.correct} title={editor.invalid} />
  ) : (
    <Problem error={error} />
  );

/** Creates or updates the task. `updatedAt` makes the controller reject an update if another user changed it. */
const store = async (form: TaskForm, id: number | undefined, updatedAt: string | undefined): Promise<number> => {
  const body = draftOf(form);
  if (id === undefined) return (await client.tasks.create({ body })).data;
  await client.tasks.update({ body: { ...body, id, ...(updatedAt !== undefined && { updatedAt }) } });
  return id;
};
