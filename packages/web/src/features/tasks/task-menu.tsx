import { ActionIcon, Menu, TextInput } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { IconCalendar, IconCopy, IconDotsVertical, IconDownload, IconPencil, IconTemplate } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { FormDialog } from '../../components/dialogs.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { ExportDialog } from './export-dialog.tsx';

const { task: words } = text;

/** The other actions on a task, as far as the user has the permissions. */
export const TaskMenu = ({ task, isActive }: { task: Task; isActive: boolean }) => {
  const params = { id: String(task.id) };
  const may = useMay();
  const [dialog, setDialog] = useState<'export' | 'template'>();
  const close = () => setDialog(undefined);
  const clone = useClone(task);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={words.more}>
            <IconDotsVertical size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {may('tasks', 'update') && !isActive && (
            <Menu.Item
              leftSection={<IconPencil size={16} />}
              renderRoot={(props) => <Link {...props} to="/tasks/$id/edit" params={params} />}
            >
              {words.edit}
            </Menu.Item>
          )}
          {may('tasks', 'clone') && (
            <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => clone.mutate()}>
              {words.clone}
            </Menu.Item>
          )}
          {may('taskTemplates', 'create') && (
            <Menu.Item leftSection={<IconTemplate size={16} />} onClick={() => setDialog('template')}>
              {words.template}
            </Menu.Item>
          )}
          {may('tasks', 'schedule') && (
            <Menu.Item
              leftSection={<IconCalendar size={16} />}
              renderRoot={(props) => <Link {...props} to="/schedules" search={{ task: task.id }} />}
            >
              {words.schedule}
            </Menu.Item>
          )}
          {may('tasks', 'export') && (
            <Menu.Item leftSection={<IconDownload size={16} />} onClick={() => setDialog('export')}>
              {words.export}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'export' && <ExportDialog task={task} onClose={close} />}
      {dialog === 'template' && <TemplateDialog task={task} onClose={close} />}
    </>
  );
};

/** Copies a task with its thresholds, and opens the copy in the editor. */
const useClone = ({ id, comment }: Task) => {
  const toasts = useToasts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const body = { comment: words.copyOf(comment || `#${id}`) };
      const { data } = await client.tasks.clone({ params: { id }, body });
      const { data: thresholds } = await client.tasks.thresholds({ params: { id } });
      await client.tasks.setThresholds({ body: { id: data, thresholds } });
      return data;
    },
    onSuccess: async (copy) => {
      toasts.done(words.cloned);
      await queries.invalidateQueries({ queryKey: ['tasks'] });
      await navigate({ to: '/tasks/$id/edit', params: { id: String(copy) } });
    },
    onError: (error) => toasts.problem(error),
  });
};

/** Creates a template of the task, with slots in place of its agents. */
const TemplateDialog = ({ task, onClose }: { task: Task; onClose: () => void }) => {
  const [name, setName] = useState(task.comment || `#${task.id}`);
  const toasts = useToasts();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => client.taskTemplates.create({ body: { name, sourceTaskID: task.id } }),
    onSuccess: async () => {
      toasts.done(words.templated);
      await queries.invalidateQueries({ queryKey: ['taskTemplates'] });
      onClose();
    },
  });
  return (
    <FormDialog
      title={words.template}
      size="md"
      onClose={onClose}
      onSubmit={create.mutate}
      error={create.error}
      isBusy={create.isPending}
    >
      <TextInput
        label={words.templateName}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
      />
    </FormDialog>
  );
};
