import { Badge, Group, Text } from '@mantine/core';
import { text } from '../../lib/text.ts';
import { bytes, duration, scaled } from '../../lib/units.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { RecordLink } from '../record-name.tsx';
import { recordsOf } from '../schema-form/record-field.tsx';
import type { Schema } from '../schema-form/schema.ts';
import { ValueText } from '../schema-form/value-text.tsx';
import { TimeText } from '../time-text.tsx';
import type { Column, Item } from './resource.ts';

const isTime = (key: string) => key.endsWith('At') || key.endsWith('_at') || ['lastLogin', 'notAfter'].includes(key);

/** Limits of agents, of which 0 is none. */
const limits = new Set(['maxBps', 'maxConcurrentTasks']);

/** A number with the unit that the name of its member implies. */
const numberText = (key: string, value: number): string => {
  if (value === 0 && limits.has(key)) return text.table.unlimited;
  if (key === 'size' || /bytes/i.test(key)) return bytes(value);
  if (/bps$/i.test(key)) return scaled(value, 'bit/s');
  if (/pps$/i.test(key)) return scaled(value, 'pps');
  if (/Ms$/.test(key) || key === 'defaultTimeout') return duration(value * 1000);
  return /(^|[a-z])(id|ID|Id|port|Port|year)$/.test(key) ? String(value) : value.toLocaleString('en');
};

export const Tags = ({ value }: { value: string }) => (
  <Group gap={4}>
    {value
      .split(',')
      // Tags with a colon are for programs.
      .filter((tag) => tag !== '' && !tag.includes(':'))
      .map((tag) => (
        <Badge key={tag} variant="light" color="gray" tt="none">
          {tag}
        </Badge>
      ))}
  </Group>
);

interface CellProps {
  column: Column;
  item: Item;
  schema: Schema;
}

/** Shows a member by its name and type, unless the column has its own `render`. */
export const Cell = ({ column: { key, render }, item, schema }: CellProps) => {
  if (render !== undefined) return render(item);
  const value = item[key];
  if (isTime(key)) return <TimeText at={value as string | null} />;
  if (value === null || value === undefined || value === '')
    return (
      <Text span c="dimmed">
        –
      </Text>
    );
  if (key === 'tags') return <Tags value={String(value)} />;
  if (key === 'issuer') return (value as { realName: string }).realName;
  if (schema.enum !== undefined) return choiceLabelOf(value, key);
  if (typeof value === 'boolean') return value ? text.filters.yes : text.filters.no;
  const collection = recordsOf[key];
  if (typeof value === 'number') {
    return collection === undefined ? numberText(key, value) : <RecordLink name={collection} id={value} />;
  }
  if (Array.isArray(value)) return String(value.length);
  if (typeof value === 'object') return <ValueText value={value} schema={schema} path={`/${key}`} />;
  return String(value);
};
