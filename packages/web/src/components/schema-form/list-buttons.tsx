import { Group } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { text } from '../../lib/text.ts';
import { IconButton } from '../buttons.tsx';

/** The list with one item moved to another place. */
export const moved = <T,>(items: readonly T[], index: number, to: number): T[] => {
  const next = [...items];
  const [item] = next.splice(index, 1);
  if (item !== undefined) next.splice(to, 0, item);
  return next;
};

interface ListButtonsProps<T> {
  /** Name of the item. */
  label: string;
  items: readonly T[];
  index: number;
  onChange: (items: T[]) => void;
}

/** Moves an item of a list, or removes it. */
export const ListButtons = <T,>({ label, items, index, onChange }: ListButtonsProps<T>) => (
  <Group gap={2} wrap="nowrap">
    <IconButton
      label={text.editor.up(label)}
      icon={IconArrowUp}
      disabled={index === 0}
      onClick={() => onChange(moved(items, index, index - 1))}
    />
    <IconButton
      label={text.editor.down(label)}
      icon={IconArrowDown}
      disabled={index === items.length - 1}
      onClick={() => onChange(moved(items, index, index + 1))}
    />
    <IconButton
      label={text.editor.remove(label)}
      icon={IconTrash}
      color="red"
      onClick={() => onChange(items.filter((_, at) => at !== index))}
    />
  </Group>
);
