import { Button, Card, Group, Input, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../../lib/text.ts';
import { type FieldProps, frameOf, type Value } from './field.ts';
import { ListButtons, moved } from './list-buttons.tsx';

interface RowsFieldProps extends FieldProps {
  /** Draws one row. */
  children: (row: Value, index: number, set: (row: Value) => void) => ReactNode;
}

/** A list of objects: one card each, added, moved and removed. */
export const RowsField = ({ children, ...props }: RowsFieldProps) => {
  const { value, onChange } = props;
  const rows = (value as Value[] | undefined) ?? [];
  const set = (next: Value[]) => onChange(next.length === 0 ? undefined : next);
  const { label, description, error } = frameOf(props);
  return (
    <Input.Wrapper
      label={label}
      labelElement="div"
      description={description}
      {...(error !== undefined && { error })}
      data-pointer={props.path}
    >
      <Stack gap="xs" mt={6}>
        {rows.map((row, i) => {
          const called = text.editor.item(label, i + 1);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
            <Card key={i} withBorder padding="xs" role="group" aria-label={called}>
              <Group justify="space-between" mb={4}>
                <Text size="xs" c="dimmed">
                  {called}
                </Text>
                <ListButtons
                  label={called}
                  isFirst={i === 0}
                  isLast={i === rows.length - 1}
                  onMove={(by) => set(moved(rows, i, by))}
                  onRemove={() => set(rows.filter((_, at) => at !== i))}
                />
              </Group>
              {children(row, i, (next) => set(rows.map((one, at) => (at === i ? next : one))))}
            </Card>
          );
        })}
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            aria-label={text.editor.addTo(label)}
            onClick={() => set([...rows, {}])}
          >
            {text.editor.add}
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
};
