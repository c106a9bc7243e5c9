import { Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { text } from '../../lib/text.ts';
import { Problem } from '../problem.tsx';
import { useToasts } from '../toasts.tsx';
import { failuresIn, linesOf } from './outcomes.ts';
import { type Reference, ReferenceList } from './reference-list.tsx';
import { type Item, idOf, nameOf, operationsOf, type ResourceName } from './resource.ts';

interface RemoveButtonProps {
  name: ResourceName;
  items: readonly Item[];
  onDone: () => void;
}

const mostNamed = 5;

/** Asks before it destroys, and tells who still uses the records when the controller refuses. */
export const RemoveButton = ({ name, items, onDone }: RemoveButtonProps) => {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const toasts = useToasts();
  const remove = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const reply = await operationsOf(name)['removeMany']?.({ body: { array: items.map(idOf) } });
      const failed = failuresIn(reply);
      if (failed.length > 0) throw new Error(linesOf(failed, new Map(items.map((item) => [idOf(item), nameOf(item)]))));
      toasts.done(text.table.removed(items.length));
      setOpen(false);
      onDone();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const references = problem instanceof RequestFailed ? ((problem.data['references'] as Reference[]) ?? []) : [];
  return (
    <>
      <Button color="red" variant="light" leftSection={<IconTrash size={16} />} onClick={() => setOpen(true)}>
        {text.table.remove}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={text.table.removeTitle(items.length)}>
        <Stack>
          <List size="sm">
            {items.slice(0, mostNamed).map((item) => (
              <List.Item key={idOf(item)}>{nameOf(item)}</List.Item>
            ))}
            {items.length > mostNamed && <List.Item>…</List.Item>}
          </List>
          <Text size="sm">{text.table.removeText}</Text>
          {problem !== undefined && <Problem error={problem} />}
          {references.length > 0 && <ReferenceList references={references} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              {text.table.cancel}
            </Button>
            <Button color="red" loading={isBusy} onClick={() => void remove()}>
              {text.table.remove}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
};
