import { ActionIcon, Menu, NumberInput, Text } from '@mantine/core';
import type { AiKey } from '@rushhour/contract';
import { IconDotsVertical } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog } from '../../components/dialogs.tsx';
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

/** The menu of a key. Rotating and revoking cannot be undone and are confirmed first. */
export const KeyActions = ({ aiKey, onEdit, onSecret }: KeyActionsProps) => {
  const { id, name, isActive } = aiKey;
  const [question, setQuestion] = useState<'rotate' | 'revoke'>();
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
  const dialog = {
    title: `${question === 'revoke' ? words.revoke : words.rotate}: ${name}`,
    error: change.error,
    isBusy: change.isPending,
    onClose: () => setQuestion(undefined),
  };
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
      {question === 'rotate' && <RotateDialog {...dialog} onRotate={change.mutate} />}
      {question === 'revoke' && (
        <ConfirmDialog {...dialog} label={words.revoke} color="red" onConfirm={() => change.mutate({ revoked: true })}>
          {words.revokeText}
        </ConfirmDialog>
      )}
    </>
  );
};

interface RotateDialogProps {
  title: string;
  error: unknown;
  isBusy: boolean;
  onClose: () => void;
  onRotate: (members: object) => void;
}

const RotateDialog = ({ onRotate, ...dialog }: RotateDialogProps) => {
  const [graceSec, setGraceSec] = useState(0);
  return (
    <ConfirmDialog {...dialog} label={words.rotate} onConfirm={() => onRotate({ rotate: true, graceSec })}>
      <Text size="sm">{words.rotateText}</Text>
      <NumberInput
        label={words.grace}
        min={0}
        max={86_400}
        value={graceSec}
        onChange={(next) => setGraceSec(Number(next))}
      />
    </ConfirmDialog>
  );
};
