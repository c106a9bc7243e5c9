import { ActionIcon, Button, Group, Menu, Modal, TextInput } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { IconCalendar, IconCopy, IconDotsVertical, IconDownload, IconPencil, IconTemplate } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { ExportDialog } from './export-dialog.tsx';

const { task: words } = text;

/** What else can be done with a task, as far as the person may. */
export const TaskMenu = ({ task, isActive }: { task: Task; isActive: boolean }) => {
  const { id } = task;
  const may = useMay();
  const toasts = useToasts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [opened, setOpened] = useState<'export' | 'template'>();
  const clone = useMutation({
    mutationFn: async () => {
      const comment = words.copyOf(task.comment || `#${id}`);
      const { data } = await client.tasks.clone({ params: { id }, body: { comment } });
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
              renderRoot={(props) => <Link {...props} to="/tasks/$id/edit" params={{ id: String(id) }} />}
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
            <Menu.Item leftSection={<IconTemplate size={16} />} onClick={() => setOpened('template')}>
              {words.template}
            </Menu.Item>
          )}
          {may('tasks', 'schedule') && (
            <Menu.Item
              leftSection={<IconCalendar size={16} />}
              renderRoot={(props) => <Link {...props} to="/schedules" search={{ task: id }} />}
            >
              {words.schedule}
            </Menu.Item>
          )}
          {may('tasks', 'export') && (
            <Menu.Item leftSection={<IconDownload size={16} />} onClick={() => setOpened('export')}>
              {words.export}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {opened === 'export' && <ExportDialog task={task} onClose={() => setOpened(undefined)} />}
      {opened === 'template' && <TemplateDialog task={task} onClose={() => setOpened(undefined)} />}
    </>
  );
};

/** A template of the task: its agents become slots. */
const TemplateDialog = ({ task, onClose }: { task: Task; onClose: () => void }) => {
  const [name, setName] = useState(task.comment || `#${task.id}`);
  const toasts = useToasts();
  const queries = useQueryClient();
  const make = useMutation({
    mutationFn: () => client.taskTemplates.create({ body: { name, sourceTaskID: task.id } }),
    onSuccess: async () => {
      toasts.done(words.templated);
      await queries.invalidateQueries({ queryKey: ['taskTemplates'] });
      onClose();
    },
    onError: (error) => toasts.problem(error),
  });
  return (
    <Modal opened onClose={onClose} title={words.template}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextInput
          label={words.templateName}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          data-autofocus
        />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            {text.table.cancel}
          </Button>
          <Button type="submit" loading={make.isPending}>
            {text.table.save}
          </Button>
        </Group>
      </form>
    </Modal>
  );
};
