import { IconDownload } from '@tabler/icons-react';
import { IconButton } from '../../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { TimeText } from '../../../components/time-text.tsx';
import { saveJson } from '../../../lib/downloads.ts';
import { text } from '../../../lib/text.ts';
import type { Finding } from './security-report.ts';

const { security } = text;

const save = ({ name, kind, reproducer = {} }: Finding) =>
  saveJson(reproducer, `${name || kind}.json`.replace(/[^\w.-]+/g, '-'));

const columns: readonly DataColumn<Finding>[] = [
  { cell: ({ kind }) => kind },
  { cell: ({ name, target }) => name || target },
  { cell: ({ detail }) => detail },
  { cell: ({ at }) => <TimeText at={at} /> },
  {
    cell: (finding) =>
      finding.reproducer !== undefined && (
        <IconButton label={security.reproducer(finding.name)} icon={IconDownload} onClick={() => save(finding)} />
      ),
  },
];

/** The findings of fuzzing, each with the smallest input that reproduces it. */
export const FindingsTable = ({ findings }: { findings: readonly Finding[] }) =>
  findings.length > 0 && (
    <Section title={security.findings} order={3}>
      <DataTable
        columns={columns}
        rows={findings}
        keyOf={({ at, kind, name }) => `${at} ${kind} ${name}`}
        minWidth={420}
      />
    </Section>
  );
