import { ActionIcon, Card, Table, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { TimeText } from '../../../components/time-text.tsx';
import { saveAs } from '../../../lib/save-as.ts';
import { text } from '../../../lib/text.ts';
import type { Finding } from './security-report.ts';

const { security } = text;

const save = ({ name, kind, reproducer = {} }: Finding) =>
  saveAs(
    new Blob([JSON.stringify(reproducer, null, 2)], { type: 'application/json' }),
    `${name || kind}.json`.replace(/[^\w.-]+/g, '-'),
  );

/** What fuzzing found out, each with the least input that does it again. */
export const FindingsTable = ({ findings }: { findings: readonly Finding[] }) =>
  findings.length > 0 && (
    <Card withBorder padding="sm">
      <Title order={3} size="h5" mb="xs">
        {security.findings}
      </Title>
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing={4}>
          <Table.Tbody>
            {findings.map((finding) => (
              <Table.Tr key={`${finding.at} ${finding.kind} ${finding.name}`}>
                <Table.Td>{finding.kind}</Table.Td>
                <Table.Td>{finding.name || finding.target}</Table.Td>
                <Table.Td>{finding.detail}</Table.Td>
                <Table.Td>
                  <TimeText at={finding.at} />
                </Table.Td>
                <Table.Td>
                  {finding.reproducer !== undefined && (
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={security.reproducer(finding.name)}
                      onClick={() => save(finding)}
                    >
                      <IconDownload size={16} />
                    </ActionIcon>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
