import { Code, Group, Modal, Stack, Text } from '@mantine/core';
import { FactTable } from '../../../components/data-table.tsx';
import { text } from '../../../lib/text.ts';
import { absoluteTime } from '../../../lib/times.ts';
import { duration } from '../../../lib/units.ts';
import { OutcomeBadge } from './outcome-badge.tsx';
import type { ReportedAttempt } from './security-report.ts';

const { security } = text;

const factsOf = (attempt: ReportedAttempt): (readonly [string, string])[] => {
  const { client, server, signature } = attempt;
  return [
    [security.facts.reason, attempt.reason],
    [security.facts.variant, attempt.variant],
    [security.facts.techniques, attempt.techniques.join(', ')],
    [security.facts.expected, attempt.expected],
    [security.facts.confidence, attempt.confidence],
    [security.facts.detected, attempt.detected],
    [security.facts.client, `${client.ip}:${client.port}, ${client.sentBytes} → ${client.rxBytes}, ${client.end}`],
    [security.facts.server, `${server.ip}:${server.port}, ${server.seen}, ${server.rxBytes} → ${server.sentBytes}`],
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

/** One attempt: outcome, evidence, request, response and alerts. */
export const AttemptDetails = ({ attempt, onClose }: { attempt: ReportedAttempt; onClose: () => void }) => (
  <Modal opened onClose={onClose} title={attempt.refName} size="lg">
    <Stack gap="sm">
      <Group gap="xs">
        <OutcomeBadge outcome={attempt.outcome} />
        {attempt.mechanism !== null && <Text size="sm">{attempt.mechanism}</Text>}
      </Group>
      <FactTable facts={factsOf(attempt)} />
      <Excerpt label={security.request} content={attempt.request} />
      <Excerpt label={security.response} content={attempt.response} />
      {attempt.alerts.map(({ time, rule, message, action }) => (
        <Text key={`${time} ${rule}`} size="sm">
          {security.alert} {rule}: {message} {action}
        </Text>
      ))}
    </Stack>
  </Modal>
);
