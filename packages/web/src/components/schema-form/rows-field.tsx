import { Button, Card, Group, Input, Stack, Text } from '@mantine/core';
import { IconGripVertical, IconPlus } from '@tabler/icons-react';
import { type DragEvent, type ReactNode, useState } from 'react';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';
import { type FieldProps, frameOf, type Value } from './field.ts';
import { ListButtons, moved } from './list-buttons.tsx';
import classes from './rows-field.module.css';

interface CardListProps<T> {
  items: readonly T[];
  nameOf: (index: number) => string;
  onChange: (items: T[]) => void;
  children: (item: T, index: number, set: (item: T) => void) => ReactNode;
}

/** Drags an item to another place of its list; the buttons do the same by keyboard. */
const useDragging = <T,>({ items, onChange }: Pick<CardListProps<T>, 'items' | 'onChange'>) => {
  const [dragged, setDragged] = useState<number>();
  const [over, setOver] = useState<number>();
  const end = () => {
    setDragged(undefined);
    setOver(undefined);
  };
  const drop = (index: number) => (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    end();
    if (dragged !== undefined && dragged !== index) onChange(moved(items, dragged, index));
  };
  const enter = (index: number) => (event: DragEvent) => {
    event.preventDefault();
    setOver(index);
  };
  return {
    handleOf: (index: number) => ({
      draggable: true,
      onDragStart: (event: DragEvent) => {
        event.stopPropagation();
        setDragged(index);
      },
      onDragEnd: end,
    }),
    // Lists within lists: only the list that the dragged item belongs to takes it.
    dropTargetOf: (index: number) =>
      dragged !== undefined && {
        onDragOver: enter(index),
        onDrop: drop(index),
        ...(over === index && over !== dragged && { 'data-place': over < dragged ? 'before' : 'after' }),
      },
  };
};

/** One card per item, with a handle to drag it and buttons to move and remove it. */
export const CardList = <T,>({ items, nameOf, onChange, children }: CardListProps<T>) => {
  const { handleOf, dropTargetOf } = useDragging({ items, onChange });
  return items.map((item, i) => (
    <Card
      // biome-ignore lint/suspicious/noArrayIndexKey: the items have no identity but their position
      key={i}
      withBorder
      padding="xs"
      py={6}
      role="group"
      aria-label={nameOf(i)}
      className={classes['card'] ?? ''}
      {...dropTargetOf(i)}
    >
      <Group justify="space-between" mb={2} mt={-2}>
        <Group gap={4} className={classes['handle']} title={text.editor.drag} {...handleOf(i)}>
          <IconGripVertical size={14} aria-hidden />
          <Text size="xs" c="dimmed">
            {nameOf(i)}
          </Text>
        </Group>
        <ListButtons label={nameOf(i)} items={items} index={i} onChange={onChange} />
      </Group>
      {children(item, i, (next) => onChange(items.map((one, at) => (at === i ? next : one))))}
    </Card>
  ));
};

/** A list of objects, edited as cards. */
export const RowsField = ({
  children,
  extra,
  ...props
}: FieldProps &
  Pick<CardListProps<Value>, 'children'> & { extra?: (rows: Value[], set: (rows: Value[]) => void) => ReactNode }) => {
  const rows = (props.value as Value[] | undefined) ?? [];
  const set = (next: Value[]) => props.onChange(next.length === 0 ? undefined : next);
  const { label, description, error } = frameOf(props);
  const name = labelOf(props.name, props.path);
  const add = (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<IconPlus size={12} />}
      aria-label={text.editor.addTo(name)}
      onClick={() => set([...rows, {}])}
    >
      {text.editor.add}
    </Button>
  );
  return (
    <Input.Wrapper
      label={
        <Group gap="sm">
          <span>{label}</span>
          {add}
          {extra?.(rows, set)}
        </Group>
      }
      labelElement="div"
      description={description}
      {...(error !== undefined && { error })}
      data-pointer={props.path}
    >
      <Stack gap="xs" mt={4}>
        <CardList items={rows} nameOf={(i) => text.editor.item(name, i + 1)} onChange={set}>
          {children}
        </CardList>
      </Stack>
    </Input.Wrapper>
  );
};
