import { Button, Group, Menu } from '@mantine/core';
import { findPlugin, isActive, runStatus, type Task } from '@rushhour/contract';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay, IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { LoadButton } from './load-button.tsx';

const { run } = text;
type Action = 'start' | 'stop' | 'abort' | 'pause' | 'resume' | 'restart';

/** What can be done with the task in the state it is in. */
export const RunControls = ({ task: { id, configuration }, status }: { task: Task; status: number }) => {
  const may = useMay();
  const toasts = useToasts();
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: Action) => call(id, action),
    onError: (error) => toasts.problem(error),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  });
  if (!may('tasks', 'start')) return null;
  const busy = act.isPending;
  const canPause = configuration.every(({ plugin }) => findPlugin(plugin.id)?.canPause !== false);
  if (!isActive(status)) {
    return (
      <Button leftSection={<IconPlayerPlay size={16} />} loading={busy} onClick={() => act.mutate('start')}>
        {status === runStatus.created ? run.start : run.startAgain}
      </Button>
    );
  }
  return (
    <Group gap="xs">
      {status === runStatus.running && canPause && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          loading={busy}
          onClick={() => act.mutate('pause')}
        >
          {run.pause}
        </Button>
      )}
      {status === runStatus.paused && (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size={16} />}
          loading={busy}
          onClick={() => act.mutate('resume')}
        >
          {run.resume}
        </Button>
      )}
      {(status === runStatus.running || status === runStatus.paused) && (
        <LoadButton id={id} configuration={configuration} />
      )}
      <Button.Group>
        <Button
          color="red"
          leftSection={<IconPlayerStop size={16} />}
          loading={busy}
          onClick={() => act.mutate('stop')}
        >
          {run.stop}
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button color="red" px={6} aria-label={run.more}>
              <IconChevronDown size={16} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => act.mutate('abort')}>{run.abort}</Menu.Item>
            <Menu.Item leftSection={<IconRefresh size={14} />} onClick={() => act.mutate('restart')}>
              {run.restart}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Button.Group>
    </Group>
  );
};

const call = async (id: number, action: Action): Promise<void> => {
  const request = { params: { id } };
  if (action === 'abort') await client.tasks.stop({ ...request, body: { mode: 'abort' } });
  else if (action === 'resume') await client.tasks.resume(request);
  else await client.tasks[action](request);
};
