const maxColumns = 8;
const maxCell = 48;
/** Shown first, in this order, when rows have them. */
const preferred = ['id', 'ID', 'name', 'email', 'title', 'comment', 'status', 'verdict', 'kind', 'state'];
const hidden = new Set(['issuerID', 'projectID', 'deletedAt', 'groupID']);

type Row = Readonly<Record<string, unknown>>;

const isScalar = (value: unknown) => value === null || typeof value !== 'object';

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Nested values by their name, or how many there are. */
const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.every(isScalar) ? value.join(',') : `${value.length}`;
  if (!isRow(value)) return String(value).replaceAll(/\s+/g, ' ');
  const name = value['name'] ?? value['email'] ?? value['id'];
  return name === undefined ? JSON.stringify(value) : String(name);
};

const cut = (text: string) => (text.length > maxCell ? `${text.slice(0, maxCell - 1)}…` : text);

const columnsOf = (rows: readonly Row[]) => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(
    (name) => !hidden.has(name) && rows.some((row) => cellOf(row[name]) !== ''),
  );
  const rank = (name: string) => {
    const at = preferred.indexOf(name);
    if (at >= 0) return at;
    return rows.every((row) => isScalar(row[name])) ? preferred.length : preferred.length + 1;
  };
  return names.sort((a, b) => rank(a) - rank(b)).slice(0, maxColumns);
};

/** Lines with aligned cells. */
export const aligned = (cells: readonly (readonly string[])[]): string => {
  const widths = (cells[0] ?? []).map((_, i) => Math.max(...cells.map((line) => line[i]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

const tableOf = (rows: readonly Row[]) => {
  const columns = columnsOf(rows);
  return aligned([
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => cut(cellOf(row[name])))),
  ]);
};

/** Nothing is cut: a record is where people copy commands and tokens from. */
const recordText = (record: Row) => aligned(Object.entries(record).map(([name, value]) => [name, cellOf(value)]));

/** A reply for people: lists as tables, records as lines of name and value. */
export const tableText = (reply: unknown): string => {
  const { data = reply, cursor } = (isRow(reply) ? reply : {}) as { data?: unknown; cursor?: { totalRows: number } };
  if (Array.isArray(data)) {
    if (data.length === 0) return '(none)';
    const text = data.every(isRow) ? tableOf(data) : data.map(cellOf).join('\n');
    const more = (cursor?.totalRows ?? data.length) - data.length;
    return more > 0 ? `${text}\n(${data.length} of ${cursor?.totalRows})` : text;
  }
  return isRow(data) ? recordText(data) : cellOf(data);
};
