import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { choiceLabelOf } from '../../../texts/choices.ts';
import { judgementOf } from './attempt-filter.ts';
import type { ReportedAttempt } from './security-report.ts';

const { security } = text;

/** Blocked and bypassed attacks of a category in an encoding. */
interface Cell {
  blocked: number;
  bypassed: number;
}

const encodingOf = ({ variant }: ReportedAttempt) => variant.split('/')[0] || security.plain;

/** Attacks by category and encoding; harmless requests are left out. */
const gridOf = (attempts: readonly ReportedAttempt[]) => {
  const cells = new Map<string, Cell>();
  for (const attempt of attempts) {
    const judgement = judgementOf(attempt);
    if (judgement !== 'blocked' && judgement !== 'bypassed') continue;
    const key = `${attempt.category}\n${encodingOf(attempt)}`;
    const cell = cells.get(key) ?? { blocked: 0, bypassed: 0 };
    cell[judgement] += 1;
    cells.set(key, cell);
  }
  const parts = [...cells.keys()].map((key) => key.split('\n'));
  const unique = (index: number) => [...new Set(parts.map((part) => part[index] ?? ''))].sort();
  return { cells, categories: unique(0), encodings: unique(1) };
};

/** How well each category is blocked in each encoding: green when all are, red when none is. */
export const EncodingGrid = ({ attempts }: { attempts: readonly ReportedAttempt[] }) => {
  const { cells, categories, encodings } = gridOf(attempts);
  if (encodings.length < 2) return null;
  const columns: DataColumn<string>[] = [
    { header: text.columns.category, cell: (category) => choiceLabelOf(category, 'category') },
    ...encodings.map((encoding) => ({
      header: choiceLabelOf(encoding, 'encoders'),
      align: 'right' as const,
      cell: (category: string) => <GridCell cell={cells.get(`${category}\n${encoding}`)} />,
    })),
  ];
  return (
    <Section title={security.byEncoding} order={3}>
      <DataTable
        columns={columns}
        rows={categories}
        keyOf={(category) => category}
        minWidth={120 + encodings.length * 80}
      />
    </Section>
  );
};

const GridCell = ({ cell }: { cell: Cell | undefined }) => {
  if (cell === undefined) return '–';
  const all = cell.blocked + cell.bypassed;
  const share = cell.blocked / all;
  const color = share === 1 ? 'teal' : share === 0 ? 'red' : 'yellow';
  return (
    <span className="heat" style={{ background: `var(--mantine-color-${color}-light)` }}>
      {security.blockedOf(cell.blocked, all)}
    </span>
  );
};
