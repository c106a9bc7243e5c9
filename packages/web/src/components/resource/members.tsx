import { Code, Table, Text, Tooltip } from '@mantine/core';
import { absoluteTime } from '../../lib/times.ts';
import { labelOf } from '../schema-form/schema.ts';
import { Cell } from './cell.tsx';
import { type Item, memberSchemas, type Resource } from './resource.ts';

/** Shown elsewhere on the page, or meaningless to users. */
const hiddenMembers = new Set(['id', 'ID', 'issuerID', 'issuerId', 'deletedAt', 'usedBy']);
const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** All members of a record that have a value; the tooltips are their descriptions in the API. */
export const Members = ({ resource, item }: { resource: Resource; item: Item }) => {
  const schemas = memberSchemas(resource.name);
  const shown = Object.entries(item).filter(
    ([key, value]) => !hiddenMembers.has(key) && !resource.hidden?.includes(key) && !isEmpty(value),
  );
  return (
    <Table variant="vertical" layout="fixed" className="numbers">
      <Table.Tbody>
        {shown.map(([key, value]) => (
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
              <Member name={key} value={value} item={item} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
};

const maxListed = 50;
const isScalar = (value: unknown) => typeof value !== 'object' || value === null;
const isTimestamp = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

const Member = ({ name, value, item }: { name: string; value: unknown; item: Item }) => {
  if (Array.isArray(value) && value.every(isScalar)) {
    return `${value.slice(0, maxListed).join(', ')}${value.length > maxListed ? ` … (${value.length})` : ''}`;
  }
  const isObject = typeof value === 'object' && value !== null && name !== 'issuer';
  if (isObject || (typeof value === 'string' && value.includes('\n'))) {
    return (
      <Code block tabIndex={0} mah={240} style={{ overflow: 'auto' }}>
        {isObject ? JSON.stringify(value, null, 2) : String(value)}
      </Code>
    );
  }
  return (
    <>
      <Cell column={{ key: name, header: name }} item={item} />
      {isTimestamp(value) && (
        <Text span size="xs" c="dimmed" ml="xs">
          {absoluteTime(value)}
        </Text>
      )}
    </>
  );
};
