import { Anchor, Checkbox, Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconEye, IconPencil } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../lib/text.ts';
import { IconButton } from '../buttons.tsx';
import { Cell } from './cell.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import {
  type Column,
  headerOf,
  type Item,
  idOf,
  memberSchemas,
  nameOf,
  type Resource,
  sortKeysOf,
} from './resource.ts';

interface ResourceTableProps {
  resource: Resource;
  items: readonly Item[];
  selected: readonly number[];
  onSelect: (ids: readonly number[]) => void;
  sort: { key: string; order: string };
  onSort: (sort: { key: string; order: string }) => void;
  onEdit?: (item: Item) => void;
}

export const ResourceTable = (props: ResourceTableProps) => {
  const { resource, items, selected, onSelect, onEdit } = props;
  const ids = items.map(idOf);
  const isAll = ids.every((id) => selected.includes(id));
  const [previewed, setPreviewed] = useState<Item>();
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table highlightOnHover className="numbers" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={36}>
              <Checkbox
                aria-label={text.table.selectAll}
                checked={isAll}
                indeterminate={!isAll && selected.length > 0}
                onChange={() => onSelect(isAll ? [] : ids)}
              />
            </Table.Th>
            {resource.columns.map((column) => (
              <HeaderCell key={column.key} {...props} column={column} />
            ))}
            {resource.hasPreview && <Table.Th w={40} visibleFrom="sm" aria-label={text.table.preview} />}
            {onEdit && <Table.Th w={40} aria-label={text.table.edit} />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <ItemRow key={idOf(item)} {...props} item={item} onPreview={setPreviewed} />
          ))}
        </Table.Tbody>
      </Table>
      {previewed && <PreviewDialog resource={resource} item={previewed} onClose={() => setPreviewed(undefined)} />}
    </Table.ScrollContainer>
  );
};

interface ItemRowProps extends ResourceTableProps {
  item: Item;
  onPreview: (item: Item) => void;
}

const ItemRow = (props: ItemRowProps) => {
  const { resource, item, selected, onSelect, onEdit, onPreview } = props;
  const id = idOf(item);
  const schemas = memberSchemas(resource.name);
  const toggle = () => onSelect(selected.includes(id) ? selected.filter((one) => one !== id) : [...selected, id]);
  const to = resource.itemTo?.(item) ?? `/resources/${resource.name}/${id}`;
  return (
    <Table.Tr>
      <Table.Td>
        <Checkbox aria-label={text.table.select(nameOf(item))} checked={selected.includes(id)} onChange={toggle} />
      </Table.Td>
      {resource.columns.map((column, i) => {
        const cell = <Cell column={column} item={item} schema={schemas[column.key] ?? {}} />;
        return (
          <Table.Td
            key={column.key}
            {...alignOf(column)}
            {...minor(column)}
            {...(i === 0 && { className: 'name-cell' })}
          >
            {i === 0 ? <Anchor renderRoot={(props) => <Link {...props} to={to} />}>{cell}</Anchor> : cell}
          </Table.Td>
        );
      })}
      {resource.hasPreview && (
        <Table.Td visibleFrom="sm">
          <IconButton label={text.table.previewOf(nameOf(item))} icon={IconEye} onClick={() => onPreview(item)} />
        </Table.Td>
      )}
      {onEdit && (
        <Table.Td>
          {(resource.isChangeable?.(item) ?? true) && (
            <IconButton label={`${text.table.edit} ${nameOf(item)}`} icon={IconPencil} onClick={() => onEdit(item)} />
          )}
        </Table.Td>
      )}
    </Table.Tr>
  );
};

interface HeaderCellProps extends Pick<ResourceTableProps, 'resource' | 'sort' | 'onSort'> {
  column: Column;
}

const alignOf = ({ align }: Column) =>
  align === undefined ? {} : ({ ta: align, style: { whiteSpace: 'nowrap' } } as const);

/** Narrow screens show only the columns that identify a record. */
const minor = ({ isMinor }: Column) => (isMinor ? ({ visibleFrom: 'sm' } as const) : {});

const HeaderCell = ({ resource, column, sort, onSort }: HeaderCellProps) => {
  const { key, align } = column;
  const header = headerOf(column);
  const shared = { ta: align ?? ('left' as const), ...minor(column) };
  if (!sortKeysOf(resource.name).includes(key)) return <Table.Th {...shared}>{header}</Table.Th>;
  const isSorted = sort.key === key;
  const order = isSorted && sort.order === 'asc' ? 'desc' : 'asc';
  const Arrow = sort.order === 'asc' ? IconArrowUp : IconArrowDown;
  return (
    <Table.Th {...shared} aria-sort={isSorted ? (sort.order === 'asc' ? 'ascending' : 'descending') : 'none'}>
      <UnstyledButton fz="inherit" fw={700} aria-label={text.table.sort(header)} onClick={() => onSort({ key, order })}>
        {header} {isSorted && <Arrow size={12} />}
      </UnstyledButton>
    </Table.Th>
  );
};
