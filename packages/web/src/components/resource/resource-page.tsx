import { Button, Group, Pagination, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { EmptyState } from '../page-states.tsx';
import { Problem } from '../problem.tsx';
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
import { SearchField } from './search-field.tsx';

const rowsOnPage = 20;
type Search = Record<string, string | number | boolean | undefined>;

/** The page of a list, as the address says. */
const useList = (resource: Resource, search: Search) => {
  const page = Number(search['page'] ?? 1);
  const query = { ...pageQuery(resource.name, page, rowsOnPage), ...queryOf(resource.name, search) };
  const { data, error, isPending } = useQuery({
    queryKey: [resource.name, 'list', query],
    queryFn: () => operationsOf(resource.name)['list']?.({ query }) as Promise<PageOf>,
    placeholderData: keepPreviousData,
  });
  return { data, error, isPending, page };
};

/** A collection: search, filters, sorting, paging and open form in the address; new, edit and delete where they are allowed. */
export const ResourcePage = ({ resource }: { resource: Resource }) => {
  const { name } = resource;
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const may = useMay();
  const [selected, setSelected] = useState<readonly number[]>([]);
  const { data, error, isPending, page } = useList(resource, search);
  const show = (members: Search, replace = false) =>
    void navigate({ to: '.', search: { ...search, ...members } as never, replace });
  const change = (members: Search) => show({ page: undefined, ...members }, true);
  const refresh = () => {
    setSelected([]);
    void queries.invalidateQueries({ queryKey: [name] });
  };
  const items = data?.data ?? [];
  const chosen = items.filter((item) => selected.includes(idOf(item)));
  const mayEdit = may(name, 'update') && resource.createTo === undefined;
  const { key: _key, order: _order, ...conditions } = queryOf(name, search);
  const isFiltered = Object.keys(conditions).length > 0;

  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {resource.title}
        </Title>
        <Group gap="xs">
          {resource.header}
          <NewButton resource={resource} onNew={() => show({ edit: 'new' })} />
        </Group>
      </Group>
      {resource.intro}
      <Group>
        {canSearch(name) && (
          <SearchField
            value={String(search['search'] ?? '')}
            onChange={(value) => change({ search: value || undefined })}
          />
        )}
        <ResourceFilters resource={resource} search={search} onChange={change} />
        {chosen.length > 0 && (
          <Group gap="xs" ml="auto">
            <Text size="sm">{text.table.selected(chosen.length)}</Text>
            {resource.actions?.(chosen, refresh)}
            {may(name, 'removeMany') && <RemoveButton name={name} items={chosen} onDone={refresh} />}
          </Group>
        )}
      </Group>
      {error && <Problem error={error} />}
      {isPending && !error && <Skeleton height={240} />}
      {data && items.length === 0 && <NothingHere resource={resource} isFiltered={isFiltered} />}
      {items.length > 0 && (
        <ResourceTable
          resource={resource}
          items={items}
          selected={selected}
          onSelect={setSelected}
          sort={{ key: String(search['key'] ?? ''), order: String(search['order'] ?? 'desc') }}
          onSort={change}
          {...(mayEdit && { onEdit: (item: Item) => show({ edit: idOf(item) }) })}
        />
      )}
      {data && <Pages cursor={data.cursor} page={page} shown={items.length} onPage={(next) => show({ page: next })} />}
      <ResourceDialog
        resource={resource}
        edit={search['edit']}
        onClose={() => show({ edit: undefined })}
        onSaved={refresh}
      />
    </Stack>
  );
};

const NothingHere = ({ resource, isFiltered }: { resource: Resource; isFiltered: boolean }) => (
  <EmptyState title={isFiltered ? text.table.noneFound : text.table.none}>
    {isFiltered ? (
      <Button variant="default" renderRoot={(props) => <Link {...props} to={`/resources/${resource.name}`} />}>
        {text.filters.clear}
      </Button>
    ) : (
      <Text size="sm" ta="center" maw={480}>
        {resource.hint}
      </Text>
    )}
  </EmptyState>
);

interface PagesProps {
  cursor: PageOf['cursor'];
  page: number;
  shown: number;
  onPage: (page: number) => void;
}

const Pages = ({ cursor: { totalPages, totalRows }, page, shown, onPage }: PagesProps) =>
  totalPages > 1 && (
    <Group justify="space-between">
      <Text size="sm" c="dimmed">
        {text.table.rows((page - 1) * rowsOnPage + 1, (page - 1) * rowsOnPage + shown, totalRows)}
      </Text>
      <Pagination
        total={Math.ceil(totalPages)}
        value={page}
        onChange={onPage}
        getControlProps={(control) => ({ 'aria-label': control })}
        getItemProps={(number) => ({ 'aria-label': text.table.page(number) })}
      />
    </Group>
  );

const NewButton = ({ resource, onNew }: { resource: Resource; onNew: () => void }) => {
  const { name, createTo, hasOwnBeginning } = resource;
  const may = useMay();
  if (!may(name, 'create') || hasOwnBeginning) return null;
  const props = { leftSection: <IconPlus size={16} />, children: text.table.create };
  return createTo === undefined ? (
    <Button {...props} onClick={onNew} />
  ) : (
    <Button {...props} renderRoot={(root) => <Link {...root} to={createTo} />} />
  );
};
