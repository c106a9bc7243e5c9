import { Anchor, Code, Stack, Table, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { absoluteTime, isTimestamp } from '../../lib/times.ts';
import { labelOf } from '../../texts/labels.ts';
import { Section } from '../page.tsx';
import type { Schema } from '../schema-form/schema.ts';
import { ValueText } from '../schema-form/value-text.tsx';
import { Cell } from './cell.tsx';
import { type Column, type Item, memberSchemas, type Resource } from './resource.ts';

/** Shown elsewhere on the page, or meaningless to users. */
const hiddenMembers = new Set(['id', 'ID', 'issuerID', 'issuerId', 'deletedAt', 'usedBy']);
const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

interface Group {
  readonly title?: string;
  readonly members: readonly string[];
}

/** The members that have a value, in the sections of the collection; those that no section names come last. */
const groupsOf = ({ hidden = [], sections = [] }: Resource, item: Item): Group[] => {
  const named = new Set(sections.flatMap(({ members }) => members));
  const others = Object.keys(item).filter((key) => !named.has(key) && !hiddenMembers.has(key) && !hidden.includes(key));
  return [...sections, { members: others }]
    .map((group) => ({ ...group, members: group.members.filter((key) => !isEmpty(item[key])) }))
    .filter(({ members }) => members.length > 0);
};

/** All members of a record that have a value; the tooltips are their descriptions in the API. */
export const MemberList = ({ resource, item }: { resource: Resource; item: Item }) =>
  groupsOf(resource, item).map(({ title = labelOf('details'), members }) => (
    <Section key={title} title={title}>
      <Members resource={resource} item={item} members={members} />
    </Section>
  ));

const Members = ({ resource, item, members }: { resource: Resource; item: Item; members: readonly string[] }) => {
  const schemas = memberSchemas(resource.name);
  return (
    <Table variant="vertical" layout="fixed" className="numbers">
      <Table.Tbody>
        {members.map((key) => (
          <Table.Tr key={key}>
            <Table.Th w={{ base: 120, sm: 200 }}>
              <Tooltip
                label={schemas[key]?.description}
                disabled={schemas[key]?.description === undefined}
                multiline
                maw={360}
              >
                <span>{labelOf(key)}</span>
              </Tooltip>
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Member
                column={resource.columns.find((one) => one.key === key) ?? { key }}
                schema={schemas[key] ?? {}}
                item={item}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
};

const maxListed = 50;
const isLink = (value: unknown): value is string => typeof value === 'string' && /^https?:\/\/\S+$/.test(value);

const Member = ({ column, schema, item }: { column: Column; schema: Schema; item: Item }): ReactNode => {
  const { key, render } = column;
  const value = item[key];
  if (render !== undefined) return render(item);
  if (Array.isArray(value)) return <Items items={value} schema={schema} path={`/${key}`} />;
  if (typeof value === 'object' && value !== null && key !== 'issuer') {
    return <ValueText value={value} schema={schema} path={`/${key}`} />;
  }
  if (typeof value === 'string' && value.includes('\n')) {
    return (
      <Code block tabIndex={0} mah={240} style={{ overflow: 'auto' }}>
        {value}
      </Code>
    );
  }
  return (
    <>
      <Cell column={column} item={item} schema={schema} />
      {isTimestamp(value) && (
        <Text span size="xs" c="dimmed" ml="xs">
          {absoluteTime(value)}
        </Text>
      )}
    </>
  );
};

/** Words in one line; objects and links one below the other. */
const Items = ({ items, schema, path }: { items: readonly unknown[]; schema: Schema; path: string }) => {
  const shown = items.slice(0, maxListed);
  const rest = items.length > maxListed && ` … (${items.length})`;
  const isLong = items.some((item) => typeof item === 'object' || isLink(item));
  if (!isLong) {
    return (
      <>
        <ValueText value={shown} schema={schema} path={path} />
        {rest}
      </>
    );
  }
  return (
    <Stack gap={4}>
      {shown.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their position
        <div key={i}>
          <Linked value={item} schema={schema.items ?? {}} path={`${path}/${i}`} />
        </div>
      ))}
      {rest}
    </Stack>
  );
};

/** References to other sites are links. */
const Linked = ({ value, schema, path }: { value: unknown; schema: Schema; path: string }) => {
  const url = typeof value === 'object' ? (value as { value?: unknown } | null)?.value : value;
  if (!isLink(url)) return <ValueText value={value} schema={schema} path={path} />;
  return (
    <Anchor href={url} target="_blank" rel="noreferrer" inherit>
      {url}
    </Anchor>
  );
};
