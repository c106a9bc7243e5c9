import { Anchor, Group, Select, Text, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Pages, Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { usePageSearch } from '../../../lib/use-page-search.ts';
import { AttemptDetails } from './attempt-details.tsx';
import { type AttemptFilter, categoriesIn, filterAttempts } from './attempt-filter.ts';
import { OutcomeBadge } from './outcome-badge.tsx';
import type { ReportedAttempt } from './security-report.ts';

const { security } = text;
const rowsPerPage = 25;
const outcomes = ['blocked', 'modified', 'passed', 'inconclusive', 'error', 'skipped'] as const;

/** The attempts of a run, with filters. Filters, page and open attempt are in the URL. */
export const AttemptTable = ({ attempts }: { attempts: readonly ReportedAttempt[] }) => {
  const { page, text: read, set, filter } = usePageSearch();
  const [outcome = '', category = '', search = ''] = [read('outcome'), read('category'), read('find')];
  const found = useMemo(
    () => filterAttempts(attempts, { outcome, category, search }),
    [attempts, outcome, category, search],
  );
  const open = attempts.find(({ attemptID }) => attemptID === read('attempt'));
  const count = (
    <Text size="sm" c="dimmed" className="numbers">
      {security.shown(found.length, attempts.length)}
    </Text>
  );
  return (
    <Section title={security.attempts} order={3} aside={count}>
      <Filters value={{ outcome, category, search }} categories={categoriesIn(attempts)} onChange={filter} />
      <DataTable
        columns={columnsOf((attempt) => set({ attempt }))}
        rows={found.slice((page - 1) * rowsPerPage, page * rowsPerPage)}
        keyOf={({ attemptID }) => attemptID}
        minWidth={360}
      />
      <Pages total={found.length / rowsPerPage} page={page} onPage={(next) => set({ page: next })} />
      {open && <AttemptDetails attempt={open} onClose={() => set({ attempt: undefined })} />}
    </Section>
  );
};

interface FiltersProps {
  value: AttemptFilter;
  categories: readonly string[];
  onChange: ReturnType<typeof usePageSearch>['filter'];
}

const Filters = ({ value, categories, onChange }: FiltersProps) => (
  <Group mb="xs">
    <TextInput
      aria-label={security.find}
      placeholder={security.find}
      defaultValue={value.search}
      onChange={(event) => onChange({ find: event.currentTarget.value || undefined })}
    />
    <Select
      aria-label={security.outcome}
      placeholder={security.outcome}
      data={outcomes.map((value) => ({ value, label: security.outcomes[value] }))}
      value={value.outcome || null}
      onChange={(outcome) => onChange({ outcome: outcome ?? undefined })}
      clearable
    />
    <Select
      aria-label={text.columns.category}
      placeholder={text.columns.category}
      data={[...categories]}
      value={value.category || null}
      onChange={(category) => onChange({ category: category ?? undefined })}
      clearable
    />
  </Group>
);

const columnsOf = (onOpen: (attemptID: string) => void): DataColumn<ReportedAttempt>[] => [
  {
    header: security.columns.attack,
    cell: ({ attemptID, refName }) => (
      <Anchor component="button" type="button" ta="left" onClick={() => onOpen(attemptID)}>
        {refName}
      </Anchor>
    ),
  },
  { header: security.columns.variant, isMinor: true, cell: ({ variant }) => variant },
  { header: security.outcome, cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { header: security.columns.evidence, isMinor: true, cell: ({ reason }) => reason },
];
