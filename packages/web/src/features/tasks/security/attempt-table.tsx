import { Anchor, Card, Group, Pagination, Select, Table, Text, TextInput, Title } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { text } from '../../../lib/text.ts';
import { AttemptDetails } from './attempt-details.tsx';
import { categoriesIn, chosenAttempts } from './chosen-attempts.ts';
import { OutcomeBadge } from './outcome-badge.tsx';
import type { ReportedAttempt } from './security-report.ts';

const { security } = text;
const rows = 25;
const outcomes = ['blocked', 'modified', 'passed', 'inconclusive', 'error', 'skipped'] as const;

/** The filter, the page and the open attempt stand in the address. */
const useWish = () => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const read = (name: string) => String(search[name] ?? '');
  return {
    wish: { outcome: read('outcome'), category: read('category'), search: read('find') },
    page: Number(search['page'] ?? 1),
    open: read('attempt'),
    set: (members: Record<string, string | number | undefined>) =>
      void navigate({ to: '.', search: { ...search, page: undefined, ...members } as never, replace: true }),
  };
};

/** Every attempt of a run, to be searched; each opens with what was said and why it was judged so. */
export const AttemptTable = ({ attempts }: { attempts: readonly ReportedAttempt[] }) => {
  const { wish, page, open, set } = useWish();
  const { outcome, category, search } = wish;
  const chosen = useMemo(
    () => chosenAttempts(attempts, { outcome, category, search }),
    [attempts, outcome, category, search],
  );
  const opened = open === '' ? undefined : attempts.find(({ attemptID }) => attemptID === open);
  const pages = Math.ceil(chosen.length / rows);
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5">
          {security.attempts}
        </Title>
        <Text size="sm" c="dimmed" className="numbers">
          {security.shown(chosen.length, attempts.length)}
        </Text>
      </Group>
      <Filters wish={wish} categories={categoriesIn(attempts)} onChange={set} />
      <Rows attempts={chosen.slice((page - 1) * rows, page * rows)} onOpen={(attempt) => set({ page, attempt })} />
      {pages > 1 && (
        <Pagination
          mt="xs"
          total={pages}
          value={page}
          onChange={(next) => set({ page: next })}
          getControlProps={(control) => ({ 'aria-label': control })}
          getItemProps={(number) => ({ 'aria-label': text.table.page(number) })}
        />
      )}
      {opened && <AttemptDetails attempt={opened} onClose={() => set({ page, attempt: undefined })} />}
    </Card>
  );
};

interface FiltersProps {
  wish: ReturnType<typeof useWish>['wish'];
  categories: readonly string[];
  onChange: ReturnType<typeof useWish>['set'];
}

const Filters = ({ wish, categories, onChange }: FiltersProps) => (
  <Group mb="xs">
    <TextInput
      aria-label={security.find}
      placeholder={security.find}
      defaultValue={wish.search}
      onChange={(event) => onChange({ find: event.currentTarget.value || undefined })}
    />
    <Select
      aria-label={security.outcome}
      placeholder={security.outcome}
      data={outcomes.map((value) => ({ value, label: security.outcomes[value] }))}
      value={wish.outcome || null}
      onChange={(outcome) => onChange({ outcome: outcome ?? undefined })}
      clearable
    />
    <Select
      aria-label={text.columns.category}
      placeholder={text.columns.category}
      data={[...categories]}
      value={wish.category || null}
      onChange={(category) => onChange({ category: category ?? undefined })}
      clearable
    />
  </Group>
);

const Rows = ({ attempts, onOpen }: { attempts: readonly ReportedAttempt[]; onOpen: (attemptID: string) => void }) => (
  <Table.ScrollContainer minWidth={360} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table highlightOnHover verticalSpacing={4}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{security.columns.attack}</Table.Th>
          <Table.Th visibleFrom="sm">{security.columns.variant}</Table.Th>
          <Table.Th>{security.outcome}</Table.Th>
          <Table.Th visibleFrom="md">{security.columns.evidence}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {attempts.map(({ attemptID, refName, variant, outcome, reason }) => (
          <Table.Tr key={attemptID}>
            <Table.Td>
              <Anchor component="button" type="button" ta="left" onClick={() => onOpen(attemptID)}>
                {refName}
              </Anchor>
            </Table.Td>
            <Table.Td visibleFrom="sm">{variant}</Table.Td>
            <Table.Td>
              <OutcomeBadge outcome={outcome} />
            </Table.Td>
            <Table.Td visibleFrom="md">{reason}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
