import type { AiKey, AiKeyDraft } from '@rushhour/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../components/dialogs.tsx';
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

/** Scopes, policy and limits of a key. The secret of a new key is reported to `onSecret`. */
export const KeyDialog = ({ aiKey, onClose, onSecret }: KeyDialogProps) => {
  const [value, setValue] = useState<Value>(() => (aiKey === undefined ? {} : keyValue(aiKey)));
  const queries = useQueryClient();
  const toasts = useToasts();
  const save = useMutation({
    mutationFn: async () => {
      if (aiKey === undefined)
        return (await client.aiAdmin.createKey({ body: value as unknown as AiKeyDraft })).data.secret;
      await client.aiAdmin.updateKey({ body: { ...value, id: aiKey.id, updatedAt: aiKey.updatedAt } as never });
      return undefined;
    },
    onSuccess: async (secret) => {
      await queries.invalidateQueries({ queryKey: ['aiAdmin', 'keys'] });
      onClose();
      if (secret === undefined) toasts.done(text.table.saved);
      else onSecret(secret);
    },
  });
  return (
    <FormDialog
      title={aiKey === undefined ? words.new : words.edit(aiKey.name)}
      onClose={onClose}
      onSubmit={save.mutate}
      error={save.error}
      isBusy={save.isPending}
    >
      <SchemaFields schema={keySchema()} value={value} onChange={setValue} issues={issuesIn(save.error)} path="" />
    </FormDialog>
  );
};
