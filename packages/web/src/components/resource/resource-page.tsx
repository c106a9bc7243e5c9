import { Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { type Search, usePageSearch } from '../../lib/use-page-search.ts';
import { IconButton } from '../buttons.tsx';
import { EmptyState, PageHeading, Pages } from '../page.tsx';
import { Problem } from '../problem.tsx';
import { BulkActions } from './bulk-button.tsx';
import { RemoveButton } from './remove-button.tsx';
import {
  canSearch,
  type Item,
  idOf,
  operationsOf,
  type PageOf,
  pageQuery,
  queryOf,
  type Resource,
} from './resource.ts';
import { ResourceDialog } from './resource-dialog.tsx';
import { ResourceFilters } from './resource-filters.tsx';
import { ResourceTable } from './resource-table.tsx';

const typingMs = 250;

/** The search of a list. The key `/` focuses the element marked with `data-search`. */
const SearchField = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => {
  const [typed, setTyped] = useState(value);
  const change = useDebouncedCallback(onChange, typingMs);
  // The URL can change without typing: back, forward, "Clear filters".
  useEffect(() => setTyped(value), [value]);
  const set = (next: string) => {
    setTyped(next);
    change(next);
  };
  return (
    <TextInput
      data-search
      aria-label={text.table.search}
      placeholder={`${text.table.search}  /`}
      leftSection={<IconSearch size={16} />}
      rightSection={typed !== '' && <IconButton label={text.table.clear} icon={IconX} onClick={() => set('')} />}
      value={typed}
      onChange={(event) => set(event.currentTarget.value)}
      w={{ base: '100%', xs: 260 }}
    />
  );
};

const rowsPerPage = 20;

const useList = (resource: Resource, search: Search, page: number) => {
  const query = { ...pageQuery(resource.name, page, rowsPerPage), ...queryOf(resource.name, search) };
  return useQuery({
    queryKey: [resource.name, 'list', query],
    queryFn: () => operationsOf(resource.name)['list']?.({ query }) as Promise<PageOf>,
    placeholderData: keepPreviousData,
  });
};

/** The list of a collection. Search, filters, order, page and open form are in the URL. */
export const ResourcePage = ({ resource }: { resource: Resource }) => {
  const { name } = resource;
  const { search, page, text: read, push, filter } = usePageSearch();
  const queries = useQueryClient();
  const mayEdit = useMay()(name, 'update') && resource.createTo === undefined;
  const [selected, setSelected] = useState<readonly number[]>([]);
  const { data, error, isPending } = useList(resource, search, page);
  const refresh = () => {
    setSelected([]);
    void queries.invalidateQueries({ queryKey: [name] });
  };
  const items = data?.data ?? [];
  return (
    <Stack>
      <PageHeading title={resource.title}>
        <Group gap="xs">
          {resource.header}
          <NewButton resource={resource} onNew={() => push({ edit: 'new' })} />
        </Group>
      </PageHeading>
      {resource.intro}
      <Group>
        {canSearch(name) && (
          <SearchField value={read('search') ?? ''} onChange={(value) => filter({ search: value || undefined })} />
        )}
        <ResourceFilters resource={resource} search={search} onChange={filter} />
        <SelectedActions
          resource={resource}
          items={items.filter((item) => selected.includes(idOf(item)))}
          onDone={refresh}
        />
      </Group>
      {error && <Problem error={error} />}
      {isPending && !error && <Skeleton height={240} />}
      {data && items.length === 0 && <NoRecords resource={resource} search={search} />}
      {items.length > 0 && (
        <ResourceTable
          resource={resource}
          items={items}
          selected={selected}
          onSelect={setSelected}
          sort={{ key: read('key') ?? '', order: read('order') ?? 'desc' }}
          onSort={filter}
          {...(mayEdit && { onEdit: (item: Item) => push({ edit: idOf(item) }) })}
        />
      )}
      {data && data.cursor.totalPages > 1 && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {text.table.rows(
              (page - 1) * rowsPerPage + 1,
              (page - 1) * rowsPerPage + items.length,
              data.cursor.totalRows,
            )}
          </Text>
          <Pages total={data.cursor.totalPages} page={page} onPage={(next) => push({ page: next })} />
        </Group>
      )}
      <ResourceDialog
        resource={resource}
        edit={search['edit']}
        onClose={() => push({ edit: undefined })}
        onSaved={refresh}
      />
    </Stack>
  );
};

interface SelectedActionsProps {
  resource: Resource;
  items: readonly Item[];
  onDone: () => void;
}

const SelectedActions = ({ resource, items, onDone }: SelectedActionsProps) => {
  const may = useMay();
  if (items.length === 0) return null;
  return (
    <Group gap="xs" ml="auto">
      <Text size="sm">{text.table.selected(items.length)}</Text>
      <BulkActions resource={resource} items={items} onDone={onDone} />
      {may(resource.name, 'removeMany') && items.every(resource.isRemovable ?? (() => true)) && (
        <RemoveButton resource={resource} items={items} onDone={onDone} />
      )}
    </Group>
  );
};

const NoRecords = ({ resource, search }: { resource: Resource; search: Search }) => {
  const { key: _key, order: _order, ...conditions } = queryOf(resource.name, search);
  if (Object.keys(conditions).length > 0) {
    return (
      <EmptyState title={text.table.noneFound}>
        <Button variant="default" renderRoot={(props) => <Link {...props} to={`/resources/${resource.name}`} />}>
          {text.filters.clear}
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={text.table.none}>
      <Text size="sm" ta="center" maw={480}>
        {resource.hint}
      </Text>
    </EmptyState>
  );
};

const NewButton = ({ resource, onNew }: { resource: Resource; onNew: () => void }) => {
  const { name, createTo, createLabel = text.table.create, hasOwnCreation } = resource;
  const may = useMay();
  if (!may(name, 'create') || hasOwnCreation) return null;
  const props = { leftSection: <IconPlus size={16} />, children: createLabel };
  return createTo === undefined ? (
    <Button {...props} onClick={onNew} />
  ) : (
    <Button {...props} renderRoot={(root) => <Link {...root} to={createTo} />} />
  );
};
