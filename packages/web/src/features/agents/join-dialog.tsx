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
/** As many as a token can be used for. */
const maxArrivals = 100;

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
    mutationFn: async () => {
      // Read before the token exists: agents that use it have higher ids.
      const newest = (await newestAgents(1))[0]?.id ?? 0;
      const { data } = await client.agents.createToken({ body: { name, ttlSec: hourSec, maxUses } });
      return { ...data, newest };
    },
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
          max={maxArrivals}
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

const newestAgents = async (count: number) =>
  (await client.agents.list({ query: { count, key: 'id', order: 'desc' } })).data;

interface JoinCommandProps {
  readonly command: string;
  /** Id of the newest agent before the token was made. */
  readonly newest: number;
  /** Why other machines do not reach the controller; empty if nothing is known. */
  readonly warning: string;
  readonly onClose: () => void;
}

const JoinCommand = ({ command, newest, warning, onClose }: JoinCommandProps) => (
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
      <Arrival newest={newest} />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {words.onlyNow}
        </Text>
        <CopyTextButton value={command} />
      </Group>
    </Stack>
  </Modal>
);

/** Waits for an agent that was not there when the token was made. */
const Arrival = ({ newest }: { newest: number }) => {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['agents', 'arrivals'],
    queryFn: () => newestAgents(maxArrivals),
    refetchInterval: pollMs,
    gcTime: 0,
  });
  const arrived = data?.find(({ id, status }) => id > newest && status === agentStatus.online);
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
