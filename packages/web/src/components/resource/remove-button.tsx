import { Button, List, Text } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../lib/text.ts';
import { ConfirmDialog } from '../dialogs.tsx';
import { useToasts } from '../toasts.tsx';
import { failuresIn, linesOf } from './outcomes.ts';
import { type Reference, ReferenceList } from './reference-list.tsx';
import { type Item, idOf, nameOf, operationsOf, type Resource } from './resource.ts';

interface RemoveButtonProps {
  resource: Resource;
  items: readonly Item[];
  onDone: () => void;
}

const maxNamed = 5;

/** Deletes records after a confirmation. Lists the records that still use them when the controller refuses. */
export const RemoveButton = ({ resource, items, onDone }: RemoveButtonProps) => {
  const { name, removeText = text.table.removeText } = resource;
  const [isOpen, setOpen] = useState(false);
  const toasts = useToasts();
  const remove = useMutation({
    mutationFn: async () => {
      const failed = failuresIn(await operationsOf(name)['removeMany']?.({ body: { array: items.map(idOf) } }));
      if (failed.length > 0) throw new Error(linesOf(failed, items));
    },
    onSuccess: () => {
      toasts.done(text.table.removed(items.length));
      setOpen(false);
      onDone();
    },
  });
  const { error } = remove;
  const references = error instanceof RequestFailed ? ((error.data['references'] as Reference[]) ?? []) : [];
  return (
    <>
      <Button color="red" variant="light" leftSection={<IconTrash size={16} />} onClick={() => setOpen(true)}>
        {text.table.remove}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={text.table.removeTitle(items.length)}
          label={text.table.remove}
          color="red"
          error={error}
          isBusy={remove.isPending}
          onConfirm={remove.mutate}
          onClose={() => setOpen(false)}
        >
          <List size="sm">
            {items.slice(0, maxNamed).map((item) => (
              <List.Item key={idOf(item)}>{nameOf(item)}</List.Item>
            ))}
            {items.length > maxNamed && <List.Item>…</List.Item>}
          </List>
          <Text size="sm">{removeText}</Text>
          {references.length > 0 && <ReferenceList references={references} />}
        </ConfirmDialog>
      )}
    </>
  );
};
