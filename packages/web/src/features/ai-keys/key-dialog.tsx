import { Button, Group, Modal, Stack } from '@mantine/core';
import type { AiKey, AiKeyDraft } from '@rushhour/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import { SchemaFields, type Value } from '../../components/schema-form/schema-fields.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { issuesIn } from '../../lib/issues.ts';
import { text } from '../../lib/text.ts';
import { keySchema, keyValue } from './key-schema.ts';

const { aiKeys: words } = text;

interface KeyDialogProps {
  /** The key to change; a new one when left out. */
  aiKey?: AiKey | undefined;
  onClose: () => void;
  onSecret: (secret: string) => void;
}

/** What a key may do. A new one is shown once. */
export const KeyDialog = ({ aiKey, onClose, onSecret }: KeyDialogProps) => {
  const [value, setValue] = useState<Value>(() => (aiKey === undefined ? {} : keyValue(aiKey)));
  const queries = useQueryClient();
  const toasts = useToasts();
  const save = useMutation({
    mutationFn: async () => {
      if (aiKey !== undefined) {
        await client.aiAdmin.updateKey({ body: { ...value, id: aiKey.id, updatedAt: aiKey.updatedAt } as never });
        return undefined;
      }
      return (await client.aiAdmin.createKey({ body: value as unknown as AiKeyDraft })).data.secret;
    },
    onSuccess: async (secret) => {
      await queries.invalidateQueries({ queryKey: ['aiAdmin', 'keys'] });
      onClose();
      if (secret === undefined) toasts.done(text.table.saved);
      else onSecret(secret);
    },
  });
  const issues = issuesIn(save.error);
  return (
    <Modal opened onClose={onClose} title={aiKey === undefined ? words.new : words.edit(aiKey.name)} size="lg">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <SchemaFields schema={keySchema()} value={value} onChange={setValue} issues={issues} path="" />
          {save.error && <Problem error={save.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.table.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {text.table.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};
