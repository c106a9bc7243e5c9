import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { text } from '../../lib/text.ts';
import { useToasts } from '../toasts.tsx';
import { failuresIn, linesOf } from './outcomes.ts';
import { type Item, idOf, nameOf } from './resource.ts';

interface BulkButtonProps {
  label: string;
  icon?: ReactNode;
  items: readonly Item[];
  /** Answers what happened to each, or nothing when all or none are done. */
  run: (ids: number[]) => Promise<unknown>;
  onDone: () => void;
  /** Asked before it is done. */
  question?: string;
}

/** One action on all that are selected; tells for whom it did not work, and why. */
export const BulkButton = ({ label, icon, items, run, onDone, question }: BulkButtonProps) => {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const toasts = useToasts();
  const names = new Map(items.map((item) => [idOf(item), nameOf(item)]));
  const act = async () => {
    setBusy(true);
    try {
      const failed = failuresIn(await run(items.map(idOf)));
      if (failed.length === 0) toasts.done(text.bulk.done(items.length));
      else toasts.problem(linesOf(failed, names), text.bulk.some(failed.length, items.length));
      onDone();
    } catch (error) {
      toasts.problem(error);
    } finally {
      setBusy(false);
      setAsking(false);
    }
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={icon}
        loading={isBusy && !isAsking}
        onClick={() => (question === undefined ? void act() : setAsking(true))}
      >
        {label}
      </Button>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title={text.bulk.sure}>
        <Stack>
          <Text size="sm">{question}</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              {text.table.cancel}
            </Button>
            <Button loading={isBusy} onClick={() => void act()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
};
