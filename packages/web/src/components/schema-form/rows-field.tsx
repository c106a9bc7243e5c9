import { Button, Card, Group, Input, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';
import { type FieldProps, frameOf, type Value } from './field.ts';
import { ListButtons } from './list-buttons.tsx';

interface CardListProps<T> {
  items: readonly T[];
  nameOf: (index: number) => string;
  onChange: (items: T[]) => void;
  children: (item: T, index: number, set: (item: T) => void) => ReactNode;
}

/** One card per item, each with buttons to move and remove it. */
export const CardList = <T,>({ items, nameOf, onChange, children }: CardListProps<T>) =>
  items.map((item, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the items have no identity but their position
    <Card key={i} withBorder padding="xs" role="group" aria-label={nameOf(i)}>
      <Group justify="space-between" mb={2} mt={-4}>
        <Text size="xs" c="dimmed">
          {nameOf(i)}
        </Text>
        <ListButtons label={nameOf(i)} items={items} index={i} onChange={onChange} />
      </Group>
      {children(item, i, (next) => onChange(items.map((one, at) => (at === i ? next : one))))}
    </Card>
  ));

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
