import { Anchor, Badge, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { CopyTextButton } from '../../../components/buttons.tsx';
import { type DataColumn, DataTable, FactTable } from '../../../components/data-table.tsx';
import { Pages, Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { absoluteTime } from '../../../lib/times.ts';
import { duration } from '../../../lib/units.ts';
import { usePageSearch } from '../../../lib/use-page-search.ts';
import { choiceLabelOf, choicesText } from '../../../texts/choices.ts';
import {
  type AttemptFilter,
  byJudgement,
  categoriesIn,
  filterAttempts,
  type Judgement,
  judgementOf,
  judgements,
} from './attempt-filter.ts';
import { payloadOf, reproducerOf } from './reproducer.ts';
import type { ReportedAttempt } from './security-report.ts';
import { techniqueName } from './technique-names.ts';

const colors = {
  bypassed: 'red',
  falsePositive: 'orange',
  altered: 'cyan',
  inconclusive: 'yellow',
  error: 'grape',
  blocked: 'teal',
  ok: 'green',
  skipped: 'gray',
} as const satisfies Record<Judgement, string>;

const JudgementBadge = ({ attempt }: { attempt: ReportedAttempt }) => {
  const judgement = judgementOf(attempt);
  return (
    <Badge color={colors[judgement]} variant="dot" tt="none">
      {text.security.judgements[judgement]}
    </Badge>
  );
};

const { security } = text;

/** An end of an attempt: its address, what happened there, and the bytes it sent and received. */
const sideText = ({ ip, port, sentBytes, rxBytes }: ReportedAttempt['client' | 'server'], what: string) =>
  [`${ip.includes(':') ? `[${ip}]` : ip}:${port}`, what, security.bytes(sentBytes, rxBytes)].join(' · ');

const factsOf = (attempt: ReportedAttempt): (readonly [string, string])[] => {
  const { client, server, signature } = attempt;
  return [
    [security.facts.reason, attempt.reason],
    [security.facts.variant, choicesText(attempt.variant, 'encoders')],
    [security.facts.techniques, attempt.techniques.map(techniqueName).join(', ')],
    [security.facts.expected, choiceLabelOf(attempt.expected, 'expected')],
    [security.facts.confidence, choiceLabelOf(attempt.confidence, 'confidence')],
    [security.facts.detected, choiceLabelOf(attempt.detected, 'detected')],
    [security.facts.client, sideText(client, choiceLabelOf(client.end, 'end'))],
    [security.facts.server, sideText(server, choiceLabelOf(server.seen, 'seen'))],
    [security.facts.time, `${absoluteTime(attempt.startedAt)}, ${duration(attempt.durationMs * 1000)}`],
    [security.facts.cve, signature?.cveIDs.join(', ') ?? ''],
    [security.facts.cvss, signature?.cvssScore?.toFixed(1) ?? ''],
    [security.facts.remediation, signature?.remediation ?? ''],
  ];
};

const Excerpt = ({ label, content }: { label: string; content: string | undefined }) =>
  content !== undefined &&
  content !== '' && (
    <section aria-label={label}>
      <Text size="sm" fw={600}>
        {label}
      </Text>
      <Code block tabIndex={0} mah={260} style={{ overflow: 'auto' }}>
        {content}
      </Code>
    </section>
  );

/** A command that sends the request again. */
const Reproducer = ({ attempt }: { attempt: ReportedAttempt }) => {
  const command = reproducerOf(attempt);
  if (command === undefined) return null;
  return (
    <>
      <Excerpt label={security.reproduce} content={command} />
      <Group>
        <CopyTextButton value={command} />
      </Group>
    </>
  );
};

/** One attempt: outcome, evidence, request, response and alerts. */
const AttemptDetails = ({ attempt, onClose }: { attempt: ReportedAttempt; onClose: () => void }) => (
  <Modal opened onClose={onClose} title={attempt.refName} size="lg">
    <Stack gap="sm">
      <Group gap="xs">
        <JudgementBadge attempt={attempt} />
        {attempt.mechanism !== null && <Text size="sm">{choiceLabelOf(attempt.mechanism, 'mechanism')}</Text>}
      </Group>
      <FactTable facts={factsOf(attempt)} />
      <Excerpt label={security.request} content={attempt.request} />
      <Reproducer attempt={attempt} />
      <Excerpt label={security.response} content={attempt.response} />
      {attempt.alerts.map(({ time, rule, message, action }) => (
        <Text key={`${time} ${rule}`} size="sm">
          {security.alert} {rule}: {message} {action}
        </Text>
      ))}
    </Stack>
  </Modal>
);

const rowsPerPage = 25;

/** The attempts of a run, with filters. Filters, page and open attempt are in the URL. */
export const AttemptTable = ({ attempts }: { attempts: readonly ReportedAttempt[] }) => {
  const { page, text: read, set, filter } = usePageSearch();
  const [outcome = '', category = '', search = ''] = [read('outcome'), read('category'), read('find')];
  const found = useMemo(
    () => byJudgement(filterAttempts(attempts, { outcome, category, search })),
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
      data={judgements.map((value) => ({ value, label: security.judgements[value] }))}
      value={value.outcome || null}
      onChange={(outcome) => onChange({ outcome: outcome ?? undefined })}
      clearable
    />
    <Select
      aria-label={text.columns.category}
      placeholder={text.columns.category}
      data={categories.map((value) => ({ value, label: choiceLabelOf(value, 'category') }))}
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
  {
    header: security.columns.payload,
    isMinor: true,
    isLong: true,
    cell: (attempt) => (
      <Code fz={12} className="payload">
        {payloadOf(attempt)}
      </Code>
    ),
  },
  { header: security.columns.variant, isMinor: true, cell: ({ variant }) => choicesText(variant, 'encoders') },
  { header: security.outcome, cell: (attempt) => <JudgementBadge attempt={attempt} /> },
];
