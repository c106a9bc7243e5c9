import { Button, Menu, NumberInput, TextInput } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../components/dialogs.tsx';
import { failuresIn, linesOf } from '../../components/resource/outcomes.ts';
import { type Item, idOf } from '../../components/resource/resource.ts';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { agents: words } = text;
const plain = ['ping', 'rescan', 'restart', 'collectLogs'] as const;
type Action = (typeof plain)[number];

interface AgentActionsProps {
  items: readonly Item[];
  done: () => void;
}

/** Reports the agents for which an action failed. */
const useAct = ({ items, done }: AgentActionsProps, run: () => Promise<unknown>, message: string) => {
  const toasts = useToasts();
  return useMutation({
    mutationFn: async () => failuresIn(await run()),
    onSuccess: (failed) => {
      if (failed.length === 0) toasts.done(message);
      else toasts.problem(linesOf(failed, items), text.bulk.some(failed.length, items.length));
      done();
    },
    onError: (error) => toasts.problem(error),
  });
};

/** Reserve, release, ping, rescan, restart and upgrade agents. */
export const AgentActions = (props: AgentActionsProps) => {
  const { items } = props;
  const array = items.map(idOf);
  const [dialog, setDialog] = useState<'reserve' | 'upgrade'>();
  const release = useAct(props, () => client.agents.release({ body: { array } }), words.released);
  const toasts = useToasts();
  const act = useMutation({
    mutationFn: (chosen: Action) => client.agents.actions({ body: { array, action: chosen } }),
    onSuccess: () => toasts.done(words.asked),
    onError: (error) => toasts.problem(error),
  });
  if (!useMay()('agents', 'actions')) return null;
  const close = () => setDialog(undefined);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            rightSection={<IconChevronDown size={14} />}
            loading={act.isPending || release.isPending}
          >
            {words.actions}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setDialog('reserve')}>{words.reserve}</Menu.Item>
          {items.some(({ reservation }) => reservation) && (
            <Menu.Item onClick={() => release.mutate()}>{words.release}</Menu.Item>
          )}
          <Menu.Divider />
          {plain.map((name) => (
            <Menu.Item key={name} onClick={() => act.mutate(name)}>
              {words.actionNames[name]}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => setDialog('upgrade')}>{words.actionNames.upgrade}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'reserve' && <ReserveDialog {...props} onClose={close} />}
      {dialog === 'upgrade' && <UpgradeDialog {...props} onClose={close} />}
    </>
  );
};

interface DialogProps extends AgentActionsProps {
  onClose: () => void;
}

const minuteMs = 60_000;

const ReserveDialog = ({ items, done, onClose }: DialogProps) => {
  const [minutes, setMinutes] = useState(60);
  const [reason, setReason] = useState('');
  const toasts = useToasts();
  const reserve = useMutation({
    mutationFn: () => {
      const until = new Date(Date.now() + minutes * minuteMs).toISOString();
      return client.agents.reserve({ body: { array: items.map(idOf), reason, until } });
    },
    onSuccess: () => {
      toasts.done(words.reserved);
      done();
      onClose();
    },
  });
  return (
    <FormDialog
      title={words.reserveTitle(items.length)}
      size="md"
      label={words.reserve}
      onClose={onClose}
      onSubmit={reserve.mutate}
      error={reserve.error}
      isBusy={reserve.isPending}
    >
      <TextInput label={text.run.reason} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
      <NumberInput
        label={words.reserveFor}
        suffix=" min"
        min={1}
        value={minutes}
        onChange={(value) => setMinutes(Number(value) || 1)}
      />
    </FormDialog>
  );
};

const UpgradeDialog = ({ items, done, onClose }: DialogProps) => {
  const [version, setVersion] = useState('');
  const toasts = useToasts();
  const upgrade = useMutation({
    mutationFn: () =>
      client.agents.actions({ body: { array: items.map(idOf), action: 'upgrade', params: { version } } }),
    onSuccess: () => {
      toasts.done(words.asked);
      done();
      onClose();
    },
  });
  return (
    <FormDialog
      title={words.actionNames.upgrade}
      size="md"
      label={words.actionNames.upgrade}
      onClose={onClose}
      onSubmit={upgrade.mutate}
      error={upgrade.error}
      isBusy={upgrade.isPending}
      isDisabled={version.trim() === ''}
    >
      <TextInput
        label={words.version}
        description={words.versionHelp}
        placeholder="0.2.0"
        value={version}
        onChange={(event) => setVersion(event.currentTarget.value.trim())}
        required
      />
    </FormDialog>
  );
};
