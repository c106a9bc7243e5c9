import { Button, Group, Menu } from '@mantine/core';
import { findPlugin, isActive, runStatus, type Task } from '@rushhour/contract';
import {
  IconChevronDown,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconRefresh,
  type TablerIcon,
} from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useStartTask } from '../../../components/start-task.tsx';
import { useToasts } from '../../../components/toasts.tsx';
import { client } from '../../../lib/client.ts';
import { useMay } from '../../../lib/session.ts';
import { text } from '../../../lib/text.ts';
import { LoadButton } from './load-button.tsx';
import { labelsToRepeat } from './topology/run-device.ts';

const { run } = text;
type Action = 'start' | 'stop' | 'abort' | 'pause' | 'resume' | 'restart';

/** The actions on a task in its current status. */
export const RunControls = ({ task, status }: { task: Task; status: number }) => {
  const { id, configuration } = task;
  const may = useMay();
  const toasts = useToasts();
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: Action) => call(id, action),
    onError: (error) => toasts.problem(error),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  });
  const { data: labels = {} } = useQuery({
    queryKey: ['tasks', 'runs', id, 'newest'],
    queryFn: async () => (await client.tasks.runs({ params: { id }, query: { count: 1 } })).data[0]?.labels ?? {},
  });
  const { start, isStarting, dialog } = useStartTask({
    labels: labelsToRepeat(task, labels),
    onStarted: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
    onError: toasts.problem,
  });
  if (!may('tasks', 'start')) return null;
  if (!isActive(status)) {
    const label = status === runStatus.created ? run.start : run.startAgain;
    const begin = { isBusy: isStarting, onAct: () => start(id) };
    return (
      <>
        <ActionButton {...begin} action="start" label={label} icon={IconPlayerPlay} />
        {dialog}
      </>
    );
  }
  const button = { isBusy: act.isPending, onAct: act.mutate };
  const canPause = configuration.every(({ plugin }) => findPlugin(plugin.id)?.canPause !== false);
  const isPaused = status === runStatus.paused;
  return (
    <Group gap="xs">
      {status === runStatus.running && canPause && (
        <ActionButton {...button} action="pause" label={run.pause} icon={IconPlayerPause} variant="default" />
      )}
      {isPaused && (
        <ActionButton {...button} action="resume" label={run.resume} icon={IconPlayerPlay} variant="default" />
      )}
      {(status === runStatus.running || isPaused) && <LoadButton id={id} configuration={configuration} />}
      <Button.Group>
        <ActionButton {...button} action="stop" label={run.stop} icon={IconPlayerStop} color="red" />
        <StopMenu onAct={act.mutate} />
      </Button.Group>
    </Group>
  );
};

interface ActionButtonProps {
  action: Action;
  label: string;
  icon: TablerIcon;
  isBusy: boolean;
  onAct: (action: Action) => void;
  variant?: string;
  color?: string;
}

const ActionButton = ({ action, label, icon: Icon, isBusy, onAct, ...look }: ActionButtonProps) => (
  <Button {...look} leftSection={<Icon size={16} />} loading={isBusy} onClick={() => onAct(action)}>
    {label}
  </Button>
);

const StopMenu = ({ onAct }: Pick<ActionButtonProps, 'onAct'>) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button color="red" px={6} aria-label={run.more}>
        <IconChevronDown size={16} />
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item onClick={() => onAct('abort')}>{run.abort}</Menu.Item>
      <Menu.Item leftSection={<IconRefresh size={14} />} onClick={() => onAct('restart')}>
        {run.restart}
      </Menu.Item>
    </Menu.Dropdown>
  </Menu>
);

const call = async (id: number, action: Action): Promise<void> => {
  const request = { params: { id } };
  if (action === 'abort') await client.tasks.stop({ ...request, body: { mode: 'abort' } });
  else if (action === 'resume') await client.tasks.resume(request);
  else await client.tasks[action](request);
};
