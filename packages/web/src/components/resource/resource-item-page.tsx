import { Anchor, Breadcrumbs, Button, Card, Code, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { labelOf } from '../schema-form/schema.ts';
import { sentenceOf } from '../toasts.tsx';
import { Cell } from './cell.tsx';
import { RemoveButton } from './remove-button.tsx';
import { type Item, nameOf, operationsOf, type Resource } from './resource.ts';
import { ResourceFormDialog } from './resource-form-dialog.tsx';

/** One record: its members, what the collection adds, and what can be done with it. */
export const ResourceItemPage = ({ resource, id }: { resource: Resource; id: number }) => {
  const { name, title } = resource;
  const may = useMay();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const { data: item, error } = useQuery({
    queryKey: [name, 'item', id],
    queryFn: async () => itemOf((await operationsOf(name)['get']?.({ params: { id } })) as Item),
  });
  const refresh = () => void queries.invalidateQueries({ queryKey: [name] });
  if (error) return <Text role="alert">{sentenceOf(error)}</Text>;
  if (item === undefined) return <Skeleton height={300} />;
  return (
    <Stack>
      <Breadcrumbs>
        <Anchor renderRoot={(props) => <Link {...props} to={`/resources/${name}`} />}>{title}</Anchor>
        <Text>{nameOf(item)}</Text>
      </Breadcrumbs>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {nameOf(item)}
        </Title>
        <Group gap="xs">
          {resource.actions?.([item], refresh)}
          {may(name, 'update') && resource.createTo === undefined && (
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setEditing(true)}>
              {text.table.edit}
            </Button>
          )}
          {may(name, 'removeMany') && (
            <RemoveButton
              name={name}
              items={[item]}
              onDone={() => {
                refresh();
                void navigate({ to: `/resources/${name}` });
              }}
            />
          )}
        </Group>
      </Group>
      {resource.details?.(item)}
      <Card withBorder>
        <Members item={item} />
      </Card>
      {isEditing && (
        <ResourceFormDialog resource={resource} item={item} onClose={() => setEditing(false)} onSaved={refresh} />
      )}
    </Stack>
  );
};

/** Some records come in an envelope, some bare. */
const itemOf = (reply: Item): Item => ('data' in reply && 'cursor' in reply ? (reply['data'] as Item) : reply);

const Members = ({ item }: { item: Item }) => (
  <Table variant="vertical" layout="fixed" className="numbers">
    <Table.Tbody>
      {Object.entries(item).map(([key, value]) => (
        <Table.Tr key={key}>
          <Table.Th w={200}>{labelOf(key)}</Table.Th>
          <Table.Td style={{ overflowWrap: 'anywhere' }}>
            {typeof value === 'object' && value !== null && key !== 'issuer' ? (
              <Code block tabIndex={0} mah={320} style={{ overflow: 'auto' }}>
                {JSON.stringify(value, null, 2)}
              </Code>
            ) : (
              <Cell column={{ key, header: key }} item={item} />
            )}
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
);
