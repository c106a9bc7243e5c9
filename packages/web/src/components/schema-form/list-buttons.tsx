import { ActionIcon, Group } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { text } from '../../lib/text.ts';

/** The list with one item further up (-1) or down (1). */
export const moved = <T,>(items: readonly T[], index: number, by: -1 | 1): T[] => {
  const next = [...items];
  const [item] = next.splice(index, 1);
  if (item !== undefined) next.splice(index + by, 0, item);
  return next;
};

interface ListButtonsProps {
  /** What the item is called. */
  label: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

/** Moves an item of a list and takes it out. */
export const ListButtons = ({ label, isFirst, isLast, onMove, onRemove }: ListButtonsProps) => (
  <Group gap={2} wrap="nowrap">
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={text.editor.up(label)}
      disabled={isFirst}
      onClick={() => onMove(-1)}
    >
      <IconArrowUp size={16} />
    </ActionIcon>
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={text.editor.down(label)}
      disabled={isLast}
      onClick={() => onMove(1)}
    >
      <IconArrowDown size={16} />
    </ActionIcon>
    <ActionIcon variant="subtle" color="red" aria-label={text.editor.remove(label)} onClick={onRemove}>
      <IconTrash size={16} />
    </ActionIcon>
  </Group>
);
