import { Alert, Button, Code, Group, Modal, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyTextButton } from '../../components/buttons.tsx';
import { DialogButton } from '../../components/dialogs.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { agents: words } = text;
const hourSec = 3600;

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
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {words.onlyNow}
        </Text>
        <CopyTextButton value={command} />
      </Group>
    </Stack>
  </Modal>
);
