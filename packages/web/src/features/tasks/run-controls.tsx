import { Button, Group, Menu, NumberInput, Popover, Stack } from '@mantine/core';
import {
  IconAdjustments,
  IconChevronDown,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconRefresh,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { isActive } from '../../lib/task-status.ts';
import { text } from '../../lib/text.ts';

const { run } = text;
type Action = 'start' | 'stop' | 'abort' | 'pause' | 'resume' | 'restart';

/** What can be done with the task in the state it is in. */
export const RunControls = ({ id, status }: { id: number; status: number }) => {
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
  if (!isActive(status)) {
    return (
      <Button leftSection={<IconPlayerPlay size={16} />} loading={busy} onClick={() => act.mutate('start')}>
        {status === 0 ? run.start : run.startAgain}
      </Button>
    );
  }
  return (
    <Group gap="xs">
      {status === 4 && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          loading={busy}
          onClick={() => act.mutate('pause')}
        >
          {run.pause}
        </Button>
      )}
      {status === 5 && (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size={16} />}
          loading={busy}
          onClick={() => act.mutate('resume')}
        >
          {run.resume}
        </Button>
      )}
      {(status === 4 || status === 5) && <LoadButton id={id} />}
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

/** A new rate for the first entry, while traffic flows. */
const LoadButton = ({ id }: { id: number }) => {
  const [isOpen, setOpen] = useState(false);
  const [rate, setRate] = useState<number>();
  const toasts = useToasts();
  const change = useMutation({
    mutationFn: async () => {
      if (rate === undefined) return;
      const { data } = await client.tasks.changeLoad({
        body: { id, changes: [{ index: 0, requestsPerSecond: rate }] },
      });
      const [refused] = data.rejected;
      if (refused !== undefined) throw new Error(refused.reason);
    },
    onSuccess: () => setOpen(false),
    onError: (error) => toasts.problem(error),
  });
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconAdjustments size={16} />} onClick={() => setOpen(!isOpen)}>
          {run.changeLoad}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <NumberInput label={run.newRate} min={1} thousandSeparator=" " onChange={(value) => setRate(Number(value))} />
          <Button size="xs" loading={change.isPending} onClick={() => change.mutate()}>
            {run.apply}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
};
