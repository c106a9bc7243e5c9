import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface DataColumn<Row> {
  readonly header?: string;
  /** Name of a column without a visible header. */
  readonly label?: string;
  readonly cell: (row: Row, index: number) => ReactNode;
  readonly align?: 'right';
  readonly width?: number;
  /** Hidden on narrow screens. */
  readonly isMinor?: boolean;
  /** Holds long words, such as hashes, that may break anywhere. */
  readonly isLong?: boolean;
}

interface DataTableProps<Row> {
  columns: readonly (DataColumn<Row> | false)[];
  rows: readonly Row[];
  /** The position of the row when left out. */
  keyOf?: (row: Row, index: number) => string | number;
  label?: string;
  minWidth?: number;
  isSelected?: (row: Row) => boolean;
  isMonospace?: boolean;
}

const shared = <Row,>({ align, width, isMinor }: DataColumn<Row>) => ({
  ta: align ?? ('left' as const),
  ...(width !== undefined && { w: width }),
  ...(isMinor && ({ visibleFrom: 'sm' } as const)),
});

/** Rows and columns; wider than the screen it scrolls. Without any header there is no header row. */
export const DataTable = <Row,>(props: DataTableProps<Row>) => {
  const { rows, keyOf = (_, i) => i, label, minWidth = 320, isSelected, isMonospace = false } = props;
  const columns = props.columns.filter((column) => column !== false);
  return (
    <Table.ScrollContainer minWidth={minWidth}>
      <Table verticalSpacing={4} className="numbers" {...(label !== undefined && { 'aria-label': label })}>
        {columns.some(({ header }) => header !== undefined) && (
          <Table.Thead>
            <Table.Tr>
              {columns.map((column, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
                <Table.Th key={i} {...shared(column)} {...(column.label && { 'aria-label': column.label })}>
                  {column.header}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
        )}
        <Table.Tbody {...(isMonospace && { ff: 'monospace', fz: 'xs' })}>
          {rows.map((row, i) => (
            <Table.Tr key={keyOf(row, i)} {...(isSelected && { 'aria-selected': isSelected(row) })}>
              {columns.map((column, j) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
                <Table.Td key={j} {...shared(column)} {...(column.isLong && { style: { overflowWrap: 'anywhere' } })}>
                  {column.cell(row, i)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
};

/** Labels and values, one pair per row; pairs without a value are left out. */
export const FactTable = ({ facts }: { facts: readonly (readonly [string, string])[] }) => (
  <Table variant="vertical" layout="fixed" className="numbers">
    <Table.Tbody>
      {facts
        .filter(([, value]) => value !== '')
        .map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th w={140}>{label}</Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
    </Table.Tbody>
  </Table>
);

interface CellTableProps {
  label: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Rows of strings, such as those of a CSV file; `columns` may be empty. */
export const CellTable = ({ label, columns, rows }: CellTableProps) => {
  const width = Math.max(columns.length, ...rows.map((row) => row.length));
  return (
    <DataTable
      label={label}
      rows={rows}
      isMonospace
      columns={Array.from({ length: width }, (_, i) => ({
        ...(columns[i] !== undefined && { header: columns[i] }),
        cell: (row: readonly string[]) => row[i],
      }))}
    />
  );
};
