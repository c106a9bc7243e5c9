import { Alert, Autocomplete, Button, Group, List, SegmentedControl, Select, TextInput } from '@mantine/core';
import type { Schedule } from '@rushhour/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../components/dialogs.tsx';
import { RecordName } from '../../components/record-name.tsx';
import { routeOf } from '../../components/resource/resource.ts';
import { RecordSelect } from '../../components/schema-form/record-select.tsx';
import { type ObjectSchema, writableOf } from '../../components/schema-form/schema.ts';
import { SchemaFields } from '../../components/schema-form/schema-fields.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { issuesIn } from '../../lib/issues.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';
import { bodyOf, formOf, newForm, type ScheduleForm } from './schedule-form.ts';

const { schedules: words } = text;
const restSchema = writableOf(routeOf('tasks', 'schedule')?.body as unknown as ObjectSchema, [
  'enabled',
  'onConflict',
  'misfire',
  'priority',
  'maxRuns',
]);

interface ScheduleDialogProps {
  /** The schedule to change; a new one when left out. */
  schedule?: Schedule | undefined;
  taskId?: number | undefined;
  onClose: () => void;
}

/** When a task starts automatically. Conflicts with other schedules are shown before the dialog closes. */
export const ScheduleDialog = ({ schedule, taskId, onClose }: ScheduleDialogProps) => {
  const [form, setForm] = useState<ScheduleForm>(() => (schedule === undefined ? newForm(taskId) : formOf(schedule)));
  const [conflicts, setConflicts] = useState<Schedule['conflicts']>([]);
  const queries = useQueryClient();
  const toasts = useToasts();
  const save = useMutation({
    mutationFn: async () => (await client.tasks.schedule({ body: bodyOf(form) })).data,
    onSuccess: async ({ conflicts: found }) => {
      toasts.done(text.table.saved);
      await queries.invalidateQueries({ queryKey: ['tasks', 'schedules'] });
      setConflicts(found);
      if (found.length === 0) onClose();
    },
  });
  const issues = issuesIn(save.error);
  const title = schedule === undefined ? words.new : words.edit(schedule.comment || `#${schedule.taskID}`);
  const buttons = (
    <Group justify="space-between">
      {schedule === undefined ? <span /> : <RemoveSchedule schedule={schedule} onDone={onClose} />}
      <Group>
        <Button variant="default" onClick={onClose}>
          {conflicts.length > 0 ? words.close : text.table.cancel}
        </Button>
        <Button type="submit" loading={save.isPending} disabled={form.taskId === undefined}>
          {text.table.save}
        </Button>
      </Group>
    </Group>
  );
  return (
    <FormDialog title={title} onClose={onClose} onSubmit={save.mutate} error={save.error} buttons={buttons}>
      <When form={form} onChange={setForm} issues={issues} isNew={schedule === undefined} />
      <SchemaFields
        schema={restSchema}
        value={form.rest}
        onChange={(rest) => setForm({ ...form, rest })}
        issues={issues}
        path=""
      />
      {conflicts.length > 0 && <Conflicts conflicts={conflicts} />}
    </FormDialog>
  );
};

const maxListed = 10;

const Conflicts = ({ conflicts }: { conflicts: Schedule['conflicts'] }) => {
  return (
    <Alert color="orange" variant="default" role="alert" title={words.conflictTitle}>
      <List size="sm">
        {conflicts.slice(0, maxListed).map(({ at, agentID, taskID }) => (
          <List.Item key={`${at} ${agentID} ${taskID}`}>
            {words.conflictAt(absoluteTime(at))} <RecordName name="agents" id={agentID} /> {words.conflictWith}{' '}
            <RecordName name="tasks" id={taskID} />
          </List.Item>
        ))}
      </List>
      {conflicts.length > maxListed && words.andMore(conflicts.length - maxListed)}
    </Alert>
  );
};

const RemoveSchedule = ({ schedule: { taskID }, onDone }: { schedule: Schedule; onDone: () => void }) => {
  const may = useMay();
  const toasts = useToasts();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.tasks.unschedule({ params: { id: taskID } }),
    onSuccess: async () => {
      toasts.done(words.removed);
      await queries.invalidateQueries({ queryKey: ['tasks', 'schedules'] });
      onDone();
    },
    onError: (error) => toasts.problem(error),
  });
  if (!may('tasks', 'unschedule')) return <span />;
  return (
    <Button color="red" variant="light" loading={remove.isPending} onClick={() => remove.mutate()}>
      {words.remove}
    </Button>
  );
};

interface WhenProps {
  form: ScheduleForm;
  onChange: (form: ScheduleForm) => void;
  issues: Readonly<Record<string, string>>;
}

const zones = Intl.supportedValuesOf('timeZone');
const errorAt = (issues: WhenProps['issues'], name: string) =>
  issues[`/${name}`] === undefined ? {} : { error: issues[`/${name}`] };

const When = ({ isNew, ...props }: WhenProps & { isNew: boolean }) => {
  const { form, onChange, issues } = props;
  const set = (members: Partial<ScheduleForm>) => onChange({ ...form, ...members });
  return (
    <>
      <RecordSelect
        name="tasks"
        label={words.task}
        value={form.taskId}
        onChange={(taskId) => set({ taskId })}
        disabled={!isNew}
        required
        data-autofocus
        {...errorAt(issues, 'id')}
      />
      <SegmentedControl
        aria-label={words.repetition}
        data={[
          { value: 'once', label: words.once },
          { value: 'cron', label: words.repeated },
        ]}
        value={form.kind}
        onChange={(kind) => set({ kind: kind as ScheduleForm['kind'] })}
      />
      {form.kind === 'once' ? <TimeField {...props} name="at" required /> : <CronFields {...props} />}
      <Autocomplete
        label={words.timezone}
        data={zones}
        limit={20}
        value={form.timezone}
        onChange={(timezone) => set({ timezone })}
        {...errorAt(issues, 'timezone')}
      />
      {form.kind === 'cron' && (
        <Group grow>
          <TimeField {...props} name="startsAt" />
          <TimeField {...props} name="endsAt" />
        </Group>
      )}
    </>
  );
};

interface TimeFieldProps extends WhenProps {
  name: 'at' | 'startsAt' | 'endsAt';
  required?: boolean;
}

const TimeField = ({ form, onChange, issues, name, required = false }: TimeFieldProps) => (
  <TextInput
    type="datetime-local"
    label={words[name]}
    value={form[name]}
    onChange={(event) => onChange({ ...form, [name]: event.currentTarget.value })}
    required={required}
    {...errorAt(issues, name)}
  />
);

const CronFields = ({ form, onChange, issues }: WhenProps) => (
  <Group grow align="flex-start">
    <Select
      label={words.presets}
      data={words.choices}
      value={words.choices.some(({ value }) => value === form.cron) ? form.cron : null}
      onChange={(cron) => cron !== null && onChange({ ...form, cron })}
    />
    <TextInput
      label={words.cron}
      value={form.cron}
      onChange={(event) => onChange({ ...form, cron: event.currentTarget.value })}
      required
      {...errorAt(issues, 'cron')}
    />
  </Group>
);
