import { Anchor, Breadcrumbs, Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { Problem } from '../problem.tsx';
import { Members } from './members.tsx';
import { RemoveButton } from './remove-button.tsx';
import { type Item, loadItem, nameOf, type Resource } from './resource.ts';
import { ResourceDialog } from './resource-dialog.tsx';
import { WhereUsed } from './where-used.tsx';

/** One record: its members, what the collection adds, who uses it, and what can be done with it. */
export const ResourceItemPage = ({ resource, id }: { resource: Resource; id: number }) => {
  const { name } = resource;
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: item, error } = useQuery({
    queryKey: [name, 'item', id],
    queryFn: () => loadItem(name, id),
  });
  const refresh = () => void queries.invalidateQueries({ queryKey: [name] });
  const edit = (value: number | undefined) => void navigate({ to: '.', search: { ...search, edit: value } as never });
  if (error) return <Problem error={error} />;
  if (item === undefined) return <Skeleton height={300} />;
  return (
    <Stack>
      <Breadcrumbs style={{ flexWrap: 'wrap' }}>
        <Anchor renderRoot={(props) => <Link {...props} to={`/resources/${name}`} />}>{resource.title}</Anchor>
        <Text>{nameOf(item)}</Text>
      </Breadcrumbs>
      <Group justify="space-between">
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {nameOf(item)}
        </Title>
        <Actions resource={resource} item={item} onEdit={() => edit(id)} onChanged={refresh} />
      </Group>
      <Suspense fallback={<Skeleton height={200} />}>{resource.details?.(item)}</Suspense>
      <WhereUsed name={name} item={item} />
      <Card withBorder>
        <Members resource={resource} item={item} />
      </Card>
      <ResourceDialog resource={resource} edit={search['edit']} onClose={() => edit(undefined)} onSaved={refresh} />
    </Stack>
  );
};

interface ActionsProps {
  resource: Resource;
  item: Item;
  onEdit: () => void;
  onChanged: () => void;
}

const Actions = ({ resource, item, onEdit, onChanged }: ActionsProps) => {
  const { name } = resource;
  const may = useMay();
  const navigate = useNavigate();
  const isChangeable = resource.isChangeable?.(item) ?? true;
  return (
    <Group gap="xs">
      {resource.actions?.([item], onChanged)}
      {may(name, 'update') && isChangeable && resource.createTo === undefined && (
        <Button variant="default" leftSection={<IconPencil size={16} />} onClick={onEdit}>
          {text.table.edit}
        </Button>
      )}
      {may(name, 'removeMany') && isChangeable && (
        <RemoveButton
          name={name}
          items={[item]}
          onDone={() => {
            onChanged();
            void navigate({ to: `/resources/${name}` });
          }}
        />
      )}
    </Group>
  );
};
