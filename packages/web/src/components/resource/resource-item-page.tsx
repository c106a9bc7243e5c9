import { Anchor, Breadcrumbs, Button, Card, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { PageHeading } from '../page.tsx';
import { Problem } from '../problem.tsx';
import { Members } from './members.tsx';
import { RemoveButton } from './remove-button.tsx';
import { type Item, loadItem, nameOf, type Resource } from './resource.ts';
import { ResourceDialog } from './resource-dialog.tsx';
import { WhereUsed } from './where-used.tsx';

/** One record: its details, the records that use it, its members, and its actions. */
export const ResourceItemPage = ({ resource, id }: { resource: Resource; id: number }) => {
  const { name } = resource;
  const { search, push } = usePageSearch();
  const queries = useQueryClient();
  const { data: item, error } = useQuery({
    queryKey: [name, 'item', id],
    queryFn: () => loadItem(name, id),
  });
  const refresh = () => void queries.invalidateQueries({ queryKey: [name] });
  if (error) return <Problem error={error} />;
  if (item === undefined) return <Skeleton height={300} />;
  return (
    <Stack>
      <Breadcrumbs style={{ flexWrap: 'wrap' }}>
        <Anchor renderRoot={(props) => <Link {...props} to={`/resources/${name}`} />}>{resource.title}</Anchor>
        <Text>{nameOf(item)}</Text>
      </Breadcrumbs>
      <PageHeading title={nameOf(item)}>
        <Actions resource={resource} item={item} onEdit={() => push({ edit: id })} onChanged={refresh} />
      </PageHeading>
      <Suspense fallback={<Skeleton height={200} />}>{resource.details?.(item)}</Suspense>
      <WhereUsed name={name} item={item} />
      <Card withBorder padding="sm">
        <Members resource={resource} item={item} />
      </Card>
      <ResourceDialog
        resource={resource}
        edit={search['edit']}
        onClose={() => push({ edit: undefined })}
        onSaved={refresh}
      />
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
  const onRemoved = () => {
    onChanged();
    void navigate({ to: `/resources/${name}` });
  };
  return (
    <Group gap="xs">
      {resource.actions?.([item], onChanged)}
      {may(name, 'update') && isChangeable && resource.createTo === undefined && (
        <Button variant="default" leftSection={<IconPencil size={16} />} onClick={onEdit}>
          {text.table.edit}
        </Button>
      )}
      {may(name, 'removeMany') && isChangeable && <RemoveButton name={name} items={[item]} onDone={onRemoved} />}
    </Group>
  );
};
