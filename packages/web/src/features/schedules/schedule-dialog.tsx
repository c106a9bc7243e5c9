import {
  Alert,
  Autocomplete,
  Button,
  Group,
  List,
  Modal,
  SegmentedControl,
  Select,
  Stack,
  TextInput,
} from '@mantine/core';
import type { Schedule } from '@rushhour/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { routeOf } from '../../components/resource/resource.ts';
import { RecordSelect, useChoices } from '../../components/schema-form/record-select.tsx';
import { type ObjectSchema, writableOf } from '../../components/schema-form/schema.ts';
import { SchemaFields } from '../../components/schema-form/schema-fields.tsx';
import { sentenceOf, useToasts } from '../../components/toasts.tsx';
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

/** When a task starts by itself. What gets in the way of others is told before the dialog closes. */
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
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <When form={form} onChange={setForm} issues={issues} isNew={schedule === undefined} />
          <SchemaFields
            schema={restSchema}
            value={form.rest}
            onChange={(rest) => setForm({ ...form, rest })}
            issues={issues}
            path=""
          />
          {save.error && (
            <Alert color="red" variant="default" role="alert" style={{ whiteSpace: 'pre-line' }}>
              {sentenceOf(save.error)}
            </Alert>
          )}
          {conflicts.length > 0 && <Conflicts conflicts={conflicts} />}
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
        </Stack>
      </form>
    </Modal>
  );
};

const mostListed = 10;

const Conflicts = ({ conflicts }: { conflicts: Schedule['conflicts'] }) => {
  const agents = useChoices('agents');
  const tasks = useChoices('tasks');
  const nameIn = (choices: readonly { value: string; label: string }[], id: number) =>
    choices.find(({ value }) => value === String(id))?.label ?? `#${id}`;
  return (
    <Alert color="orange" variant="default" role="alert" title={words.conflictTitle}>
      <List size="sm">
        {conflicts.slice(0, mostListed).map(({ at, agentID, taskID }) => (
          <List.Item key={`${at} ${agentID} ${taskID}`}>
            {words.conflictLine(absoluteTime(at), nameIn(agents, agentID), nameIn(tasks, taskID))}
          </List.Item>
        ))}
      </List>
      {conflicts.length > mostListed && words.andMore(conflicts.length - mostListed)}
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
  isNew: boolean;
}

const zones = Intl.supportedValuesOf('timeZone');

const When = ({ form, onChange, issues, isNew }: WhenProps) => {
  const set = (members: Partial<ScheduleForm>) => onChange({ ...form, ...members });
  const errorAt = (name: string) => (issues[`/${name}`] === undefined ? {} : { error: issues[`/${name}`] });
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
        {...errorAt('id')}
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
      {form.kind === 'once' ? (
        <TextInput
          type="datetime-local"
          label={words.at}
          value={form.at}
          onChange={(event) => set({ at: event.currentTarget.value })}
          required
          {...errorAt('at')}
        />
      ) : (
        <Group grow align="flex-start">
          <Select
            label={words.presets}
            data={words.choices}
            value={words.choices.some(({ value }) => value === form.cron) ? form.cron : null}
            onChange={(cron) => cron !== null && set({ cron })}
          />
          <TextInput
            label={words.cron}
            value={form.cron}
            onChange={(event) => set({ cron: event.currentTarget.value })}
            required
            {...errorAt('cron')}
          />
        </Group>
      )}
      <Autocomplete
        label={words.timezone}
        data={zones}
        limit={20}
        value={form.timezone}
        onChange={(timezone) => set({ timezone })}
        {...errorAt('timezone')}
      />
      {form.kind === 'cron' && (
        <Group grow>
          <TextInput
            type="datetime-local"
            label={words.startsAt}
            value={form.startsAt}
            onChange={(event) => set({ startsAt: event.currentTarget.value })}
            {...errorAt('startsAt')}
          />
          <TextInput
            type="datetime-local"
            label={words.endsAt}
            value={form.endsAt}
            onChange={(event) => set({ endsAt: event.currentTarget.value })}
            {...errorAt('endsAt')}
          />
        </Group>
      )}
    </>
  );
};
