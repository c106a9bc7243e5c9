import { Button, Code, CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { IconButton } from '../../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { usePageSearch } from '../../../lib/use-page-search.ts';
import { choicesText } from '../../../texts/choices.ts';
import { judgementOf } from './attempt-filter.ts';
import { payloadOf, reproducerOf } from './reproducer.ts';
import { type ReportedAttempt, useSecurityReport } from './security-report.ts';

const { security } = text;
const maxShown = 5;

/** The attacks that got through, with the payload and a command that sends it again. */
export const Bypasses = ({ taskId, runId }: { taskId: number; runId: number }) => {
  const { data: report } = useSecurityReport(taskId, runId);
  const { filter } = usePageSearch();
  const found = (report?.attempts ?? []).filter((attempt) => judgementOf(attempt) === 'bypassed');
  if (found.length === 0) return null;
  const showAll = () => {
    filter({ outcome: 'bypassed' });
    document.getElementById('attempts')?.scrollIntoView({ behavior: 'smooth' });
  };
  return (
    <Section title={security.bypasses(found.length)} order={3}>
      <DataTable
        columns={columns}
        rows={found.slice(0, maxShown)}
        keyOf={({ attemptID }) => attemptID}
        minWidth={320}
      />
      {found.length > maxShown && (
        <Group mt="xs">
          <Button variant="subtle" size="compact-sm" onClick={showAll}>
            {security.allBypasses(found.length)}
          </Button>
        </Group>
      )}
    </Section>
  );
};

const columns: readonly DataColumn<ReportedAttempt>[] = [
  { header: security.columns.attack, cell: ({ refName }) => refName },
  {
    header: security.columns.payload,
    isLong: true,
    cell: (attempt) => (
      <Code fz={12} className="payload">
        {payloadOf(attempt)}
      </Code>
    ),
  },
  { header: security.columns.variant, isMinor: true, cell: ({ variant }) => choicesText(variant, 'encoders') },
  {
    header: security.reproduce,
    isMinor: true,
    align: 'right',
    cell: (attempt) => {
      const command = reproducerOf(attempt);
      if (command === undefined) return null;
      return (
        <CopyButton value={command}>
          {({ copied, copy }) => (
            <IconButton
              label={security.copyReproducer(attempt.refName)}
              icon={copied ? IconCheck : IconCopy}
              onClick={copy}
            />
          )}
        </CopyButton>
      );
    },
  },
];
