import { ActionIcon, Button, Group, Menu, Modal, NumberInput, Stack, Text } from '@mantine/core';
import type { AiKey } from '@rushhour/contract';
import { IconDotsVertical } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { keyStateOf } from './key-schema.ts';

const { aiKeys: words } = text;

interface KeyActionsProps {
  aiKey: AiKey;
  onEdit: () => void;
  onSecret: (secret: string) => void;
}

type Question = 'rotate' | 'revoke';

/** What can be done with a key; what cannot be undone is asked about first. */
export const KeyActions = ({ aiKey, onEdit, onSecret }: KeyActionsProps) => {
  const { id, name, isActive } = aiKey;
  const [question, setQuestion] = useState<Question>();
  const [graceSec, setGraceSec] = useState(0);
  const queries = useQueryClient();
  const toasts = useToasts();
  const change = useMutation({
    mutationFn: async (members: object) => (await client.aiAdmin.updateKey({ body: { id, ...members } })).data,
    onSuccess: async (data) => {
      setQuestion(undefined);
      await queries.invalidateQueries({ queryKey: ['aiAdmin', 'keys'] });
      if (data?.secret === undefined) toasts.done(text.table.saved);
      else onSecret(data.secret);
    },
    onError: (error) => question === undefined && toasts.problem(error),
  });
  if (keyStateOf(aiKey) === 'revoked') return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={words.actions(name)}>
            <IconDotsVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onEdit}>{text.table.edit}</Menu.Item>
          <Menu.Item onClick={() => setQuestion('rotate')}>{words.rotate}</Menu.Item>
          <Menu.Item onClick={() => change.mutate({ isActive: !isActive })}>
            {isActive ? words.disable : words.enable}
          </Menu.Item>
          <Menu.Item color="red" onClick={() => setQuestion('revoke')}>
            {words.revoke}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={question !== undefined}
        onClose={() => setQuestion(undefined)}
        title={`${question === 'revoke' ? words.revoke : words.rotate}: ${name}`}
      >
        <Stack>
          <Text size="sm">{question === 'revoke' ? words.revokeText : words.rotateText}</Text>
          {question === 'rotate' && (
            <NumberInput
              label={words.grace}
              min={0}
              max={86_400}
              value={graceSec}
              onChange={(next) => setGraceSec(Number(next))}
            />
          )}
          {change.error && <Problem error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setQuestion(undefined)}>
              {text.table.cancel}
            </Button>
            <Button
              {...(question === 'revoke' && { color: 'red' })}
              loading={change.isPending}
              onClick={() => change.mutate(question === 'revoke' ? { revoked: true } : { rotate: true, graceSec })}
            >
              {question === 'revoke' ? words.revoke : words.rotate}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
};
