import { ActionIcon, Button, Group, Pagination, Select, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedCallback, useHotkeys } from '@mantine/hooks';
import { IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { EmptyState } from '../page-states.tsx';
import { sentenceOf } from '../toasts.tsx';
import { RemoveButton } from './remove-button.tsx';
import { canSearch, type Item, idOf, operationsOf, type PageOf, pageQuery, type Resource } from './resource.ts';
import { ResourceFormDialog } from './resource-form-dialog.tsx';
import { ResourceTable } from './resource-table.tsx';

const rowsOnPage = 20;
type Search = Record<string, string | number | boolean | undefined>;

/** A collection: search, filters, sorting and paging in the address; new, edit and delete where they are allowed. */
export const ResourcePage = ({ resource }: { resource: Resource }) => {
  const { name, title, hint, filters = [] } = resource;
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const may = useMay();
  const [selected, setSelected] = useState<readonly number[]>([]);
  const [edited, setEdited] = useState<Item | 'new' | undefined>();
  const page = Number(search['page'] ?? 1);
  const change = (members: Search) =>
    void navigate({ to: '.', search: { ...search, page: undefined, ...members } as never, replace: true });

  const { page: _page, ...rest } = search;
  const query = { ...pageQuery(name, page, rowsOnPage), ...rest };
  const { data, error, isPending } = useQuery({
    queryKey: [name, 'list', query],
    queryFn: () => operationsOf(name)['list']?.({ query }) as Promise<PageOf>,
    placeholderData: keepPreviousData,
  });
  const refresh = () => {
    setSelected([]);
    void queries.invalidateQueries({ queryKey: [name] });
  };
  const items = data?.data ?? [];
  const chosen = items.filter((item) => selected.includes(idOf(item)));
  const isFiltered = Object.keys(rest).some((key) => !['key', 'order'].includes(key));

  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {title}
        </Title>
        <Group gap="xs">
          {resource.header}
          <NewButton resource={resource} onNew={() => setEdited('new')} />
        </Group>
      </Group>
      <Group>
        {canSearch(name) && (
          <SearchField
            value={String(search['search'] ?? '')}
            onChange={(value) => change({ search: value || undefined })}
          />
        )}
        {filters.map((filter) => (
          <Select
            key={filter.name}
            aria-label={filter.label}
            placeholder={filter.label}
            data={[...filter.options]}
            value={search[filter.name] === undefined ? null : String(search[filter.name])}
            onChange={(value) => change({ [filter.name]: value ?? undefined })}
            clearable
            w={180}
          />
        ))}
        {chosen.length > 0 && (
          <Group gap="xs" ml="auto">
            <Text size="sm">{text.table.selected(chosen.length)}</Text>
            {resource.actions?.(chosen, refresh)}
            {may(name, 'removeMany') && <RemoveButton name={name} items={chosen} onDone={refresh} />}
          </Group>
        )}
      </Group>
      {error && (
        <Text c="red" role="alert" style={{ whiteSpace: 'pre-line' }}>
          {sentenceOf(error)}
        </Text>
      )}
      {isPending && !error && <Skeleton height={240} />}
      {data && items.length === 0 && (
        <EmptyState title={isFiltered ? text.table.noneFound : text.table.none}>
          {!isFiltered && <Text size="sm">{hint}</Text>}
        </EmptyState>
      )}
      {items.length > 0 && (
        <ResourceTable
          resource={resource}
          items={items}
          selected={selected}
          onSelect={setSelected}
          sort={{ key: String(search['key'] ?? ''), order: String(search['order'] ?? 'desc') }}
          onSort={change}
          {...(may(name, 'update') && resource.createTo === undefined && { onEdit: setEdited })}
        />
      )}
      {data && data.cursor.totalPages > 1 && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {text.table.rows(
              (page - 1) * rowsOnPage + 1,
              (page - 1) * rowsOnPage + items.length,
              data.cursor.totalRows,
            )}
          </Text>
          <Pagination
            total={Math.ceil(data.cursor.totalPages)}
            value={page}
            onChange={(next) => void navigate({ to: '.', search: { ...search, page: next } as never })}
            getControlProps={(control) => ({ 'aria-label': control })}
          />
        </Group>
      )}
      {edited !== undefined && (
        <ResourceFormDialog
          resource={resource}
          {...(edited !== 'new' && { item: edited })}
          onClose={() => setEdited(undefined)}
          onSaved={refresh}
        />
      )}
    </Stack>
  );
};

const NewButton = ({ resource: { name, createTo }, onNew }: { resource: Resource; onNew: () => void }) => {
  const may = useMay();
  if (!may(name, 'create')) return null;
  const props = { leftSection: <IconPlus size={16} />, children: text.table.create };
  return createTo === undefined ? (
    <Button {...props} onClick={onNew} />
  ) : (
    <Button {...props} renderRoot={(root) => <Link {...root} to={createTo} />} />
  );
};

/** `/` goes there from anywhere on the page. */
const SearchField = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => {
  const [typed, setTyped] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const report = useDebouncedCallback(onChange, 250);
  useHotkeys([['/', () => input.current?.focus()]]);
  const set = (next: string) => {
    setTyped(next);
    report(next);
  };
  return (
    <TextInput
      ref={input}
      aria-label={text.table.search}
      placeholder={`${text.table.search}  /`}
      leftSection={<IconSearch size={16} />}
      rightSection={
        typed !== '' && (
          <ActionIcon variant="subtle" color="gray" aria-label={text.table.cancel} onClick={() => set('')}>
            <IconX size={14} />
          </ActionIcon>
        )
      }
      value={typed}
      onChange={(event) => set(event.currentTarget.value)}
      w={260}
    />
  );
};
