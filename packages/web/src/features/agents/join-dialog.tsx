import { Button, Code, CopyButton, Group, Modal, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { agents: words } = text;
const hourSec = 3600;

/** Makes a join token and shows the command that enrols an agent with it, once. */
export const JoinButton = () => {
  const [isOpen, setOpen] = useState(false);
  const may = useMay();
  if (!may('agents', 'createToken')) return null;
  return (
    <>
      <Button leftSection={<IconPlugConnected size={16} />} onClick={() => setOpen(true)}>
        {words.join}
      </Button>
      {isOpen && <JoinDialog onClose={() => setOpen(false)} />}
    </>
  );
};

const JoinDialog = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState(words.tokenName);
  const [uses, setUses] = useState(1);
  const toasts = useToasts();
  const make = useMutation({
    mutationFn: async () => (await client.agents.createToken({ body: { name, ttlSec: hourSec, maxUses: uses } })).data,
    onError: (error) => toasts.problem(error),
  });
  return (
    <Modal opened onClose={onClose} title={words.join} size="lg">
      {make.data === undefined ? (
        <Stack>
          <TextInput label={words.token} value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <NumberInput
            label={words.uses}
            min={1}
            max={100}
            value={uses}
            onChange={(value) => setUses(Number(value) || 1)}
          />
          <Group justify="flex-end">
            <Button loading={make.isPending} onClick={() => make.mutate()}>
              {words.create}
            </Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          <Text size="sm">{words.runThis}</Text>
          <Code block>{make.data.command}</Code>
          <Group justify="space-between">
            <Text size="xs" c="dimmed">
              {words.onlyNow}
            </Text>
            <CopyButton value={make.data.command}>
              {({ copied, copy }) => <Button onClick={copy}>{copied ? words.copied : words.copy}</Button>}
            </CopyButton>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
