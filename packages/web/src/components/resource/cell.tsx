import { Badge, Group, Text } from '@mantine/core';
import { TimeText } from '../time-text.tsx';
import type { Column, Item } from './resource.ts';

const isTime = (key: string) => key.endsWith('At') || key.endsWith('_at') || key === 'lastLogin';

/** How a member of a record is shown when nobody says otherwise. */
export const Cell = ({ column: { key, render }, item }: { column: Column; item: Item }) => {
  if (render !== undefined) return render(item);
  const value = item[key];
  if (isTime(key)) return <TimeText at={value as string | null} />;
  if (value === null || value === undefined || value === '')
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  if (key === 'tags') {
    return (
      <Group gap={4}>
        {String(value)
          .split(',')
          .map((tag) => (
            <Badge key={tag} variant="light" color="gray" tt="none">
              {tag}
            </Badge>
          ))}
      </Group>
    );
  }
  if (key === 'issuer') return (value as { realName: string }).realName;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return String(value.length);
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
};
