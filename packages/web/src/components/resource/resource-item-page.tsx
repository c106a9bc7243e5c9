import { Anchor, Breadcrumbs, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { FailedPage, PageHeading, Section } from '../page.tsx';
import { BulkActions } from './bulk-button.tsx';
import { MemberList } from './member-list.tsx';
import { type Reference, ReferenceList } from './reference-list.tsx';
import { RemoveButton } from './remove-button.tsx';
import {
  type Item,
  idOf,
  loadItem,
  nameOf,
  operationsOf,
  type Resource,
  type ResourceName,
  routeOf,
} from './resource.ts';
import { ResourceDialog } from './resource-dialog.tsx';

interface Usage {
  references: readonly Reference[];
  total: number;
}

const takesReferences = (name: ResourceName) => {
  const query = routeOf(name, 'get')?.query as { properties?: { include?: { pattern?: string } } } | undefined;
  return query?.properties?.include?.pattern?.includes('references') ?? false;
};

const usageOf = (references: Reference[]): Usage => ({ references, total: references.length });

/**
 * Collections report usage in one of three ways: an operation, `include=references`, or a member of the record.
 * Where references of the record are links to other sites, `include=references` adds `usedBy`.
 */
const readUsage = async (name: ResourceName, item: Item): Promise<Usage | null> => {
  const params = { id: idOf(item) };
  if (routeOf(name, 'usage') !== undefined) {
    const reply = await operationsOf(name)['usage']?.({ params, query: { count: 50 } });
    const { data, cursor } = reply as { data: Reference[]; cursor: { totalRows: number } };
    return { references: data, total: cursor.totalRows };
  }
  if (takesReferences(name)) {
    const reply = await operationsOf(name)['get']?.({ params, query: { include: 'references' } });
    const { usedBy, references } = (reply as { data: { usedBy?: Reference[]; references?: Reference[] } }).data;
    return usageOf(usedBy ?? references ?? []);
  }
  const usedBy = item['usedBy'] as Reference[] | undefined;
  return usedBy === undefined ? null : usageOf(usedBy);
};

/** The records that use this one. Nothing for collections that report usage only when a deletion is refused. */
const WhereUsed = ({ name, item }: { name: ResourceName; item: Item }) => {
  const { data } = useQuery({
    queryKey: [name, 'usage', idOf(item)],
    queryFn: () => readUsage(name, item),
  });
  if (!data) return null;
  return (
    <Section title={text.usage.title}>
      {data.references.length === 0 ? (
        <Text size="sm" c="dimmed">
          {text.usage.none}
        </Text>
      ) : (
        <ReferenceList references={data.references} total={data.total} />
      )}
    </Section>
  );
};

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
  if (error) return <FailedPage error={error} />;
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
      <MemberList resource={resource} item={item} />
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
      <BulkActions resource={resource} items={[item]} onDone={onChanged} />
      {may(name, 'update') && isChangeable && resource.createTo === undefined && (
        <Button variant="default" leftSection={<IconPencil size={16} />} onClick={onEdit}>
          {text.table.edit}
        </Button>
      )}
      {may(name, 'removeMany') && isChangeable && (
        <RemoveButton resource={resource} items={[item]} onDone={onRemoved} />
      )}
    </Group>
  );
};
