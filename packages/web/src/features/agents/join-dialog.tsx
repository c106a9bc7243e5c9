import { Alert, Button, Code, Group, Loader, Modal, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { agentStatus } from '@rushhour/contract';
import { IconCircleCheck, IconPlugConnected } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { CopyTextButton } from '../../components/buttons.tsx';
import { DialogButton } from '../../components/dialogs.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { agents: words } = text;
const hourSec = 3600;
const pollMs = 1500;

export const JoinButton = () =>
  useMay()('agents', 'createToken') && (
    <DialogButton label={words.join} leftSection={<IconPlugConnected size={16} />}>
      {(close) => <JoinDialog onClose={close} />}
    </DialogButton>
  );

/** Creates a join token and shows once the command that enrols an agent with it. */
const JoinDialog = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState(words.tokenName);
  const [maxUses, setMaxUses] = useState(1);
  const toasts = useToasts();
  const create = useMutation({
    mutationFn: async () => (await client.agents.createToken({ body: { name, ttlSec: hourSec, maxUses } })).data,
    onError: (error) => toasts.problem(error),
  });
  if (create.data !== undefined) return <JoinCommand {...create.data} onClose={onClose} />;
  return (
    <Modal opened onClose={onClose} title={words.join} size="lg">
      <Stack>
        <TextInput label={words.token} value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <NumberInput
          label={words.uses}
          min={1}
          max={100}
          value={maxUses}
          onChange={(value) => setMaxUses(Number(value) || 1)}
        />
        <Group justify="flex-end">
          <Button loading={create.isPending} onClick={() => create.mutate()}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

interface JoinCommandProps {
  readonly command: string;
  /** Why other machines do not reach the controller; empty if nothing is known. */
  readonly warning: string;
  readonly onClose: () => void;
}

const JoinCommand = ({ command, warning, onClose }: JoinCommandProps) => (
  <Modal opened onClose={onClose} title={words.join} size="lg">
    <Stack>
      <Text size="sm">{words.runThis}</Text>
      {warning !== '' && (
        <Alert color="yellow" title={words.onlyThisMachine}>
          {warning}
        </Alert>
      )}
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {command}
      </Code>
      <Arrival />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {words.onlyNow}
        </Text>
        <CopyTextButton value={command} />
      </Group>
    </Stack>
  </Modal>
);

/** Waits for an agent that was not there when the command was shown. */
const Arrival = () => {
  const queries = useQueryClient();
  const [known, setKnown] = useState<ReadonlySet<number>>();
  const { data } = useQuery({
    queryKey: ['agents', 'arrivals'],
    queryFn: async () => (await client.agents.list({ query: { count: 100, key: 'id', order: 'desc' } })).data,
    refetchInterval: pollMs,
    gcTime: 0,
  });
  useEffect(() => {
    if (data !== undefined && known === undefined) setKnown(new Set(data.map(({ id }) => id)));
  }, [data, known]);
  const arrived = known && data?.find(({ id, status }) => !known.has(id) && status === agentStatus.online);
  const id = arrived?.id;
  useEffect(() => {
    if (id !== undefined) void queries.invalidateQueries({ queryKey: ['agents', 'list'] });
  }, [id, queries]);
  return (
    <Group gap="xs" role="status">
      {arrived ? <IconCircleCheck size={18} color="var(--mantine-color-teal-filled)" /> : <Loader size={16} />}
      <Text size="sm">{arrived ? words.connected(arrived.name) : words.waiting}</Text>
    </Group>
  );
};
