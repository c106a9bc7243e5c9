import { Text } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { text } from '../../lib/text.ts';
import { absoluteTime, isTimestamp } from '../../lib/times.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { labelOf } from '../../texts/labels.ts';
import { RecordLink } from '../record-name.tsx';
import { recordsOf } from './record-field.tsx';
import { collectionOf } from './reference-field.tsx';
import { referenceOf, type Schema, withoutNull } from './schema.ts';

interface ValueTextProps {
  readonly value: unknown;
  readonly schema: Schema;
  /** JSON pointer of the value, for the labels of its members. */
  readonly path: string;
}

/** The member that a JSON pointer ends in, without positions in lists. */
const memberOf = (path: string): string => path.split('/').findLast((part) => !/^\d*$/.test(part)) ?? '';

/** A value to be read: records by their names, members with their labels. */
export const ValueText = ({ value, schema: given, path }: ValueTextProps): ReactNode => {
  const schema = withoutNull(given);
  const collection = collectionOf(referenceOf(schema) ?? '') ?? recordsOf[memberOf(path)];
  const id = typeof value === 'object' ? (value as { id?: unknown } | null)?.id : value;
  if (collection !== undefined && typeof id === 'number') return <RecordLink name={collection} id={id} />;
  if (Array.isArray(value)) return <Items items={value} schema={schema.items ?? {}} path={path} />;
  if (typeof value === 'boolean') return value ? text.filters.yes : text.filters.no;
  if (typeof value === 'object' && value !== null) return <Members value={value} schema={schema} path={path} />;
  if (isTimestamp(value)) return absoluteTime(value);
  return schema.enum === undefined ? String(value) : choiceLabelOf(value, memberOf(path));
};

const Items = ({ items, schema, path }: { items: readonly unknown[]; schema: Schema; path: string }) => {
  const isLong = referenceOf(schema) === undefined && items.some((item) => typeof item === 'object');
  return items.map((item, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their position
    <Fragment key={i}>
      {i > 0 && (isLong ? <br /> : ', ')}
      <ValueText value={item} schema={schema} path={`${path}/${i}`} />
    </Fragment>
  ));
};

const Members = ({ value, schema, path }: { value: object; schema: Schema; path: string }) =>
  Object.entries(value).map(([name, member], i) => (
    <Fragment key={name}>
      {i > 0 && ' · '}
      <Text span c="dimmed" inherit>
        {labelOf(name, `${path}/${name}`)}
      </Text>{' '}
      <ValueText value={member} schema={schema.properties?.[name] ?? {}} path={`${path}/${name}`} />
    </Fragment>
  ));
