import { Anchor, Breadcrumbs, Card, Code, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { Approval } from '@rushhour/contract';
import { Link, useParams } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { EmptyState, MissingPage, Section } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { RecordName } from '../../components/record-name.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { text } from '../../lib/text.ts';
import { clock, scaled } from '../../lib/units.ts';
import { ApprovalState, RiskBadge } from './approval-badges.tsx';
import { Decide } from './decide.tsx';
import { useApproval } from './use-approvals.ts';

const { approvals: words } = text;

/** One request of an AI key, with its plan and digest, to be approved or rejected. */
export const ApprovalPage = () => {
  const params = useParams({ strict: false });
  const id = Number(params.id);
  const { data: approval, error } = useApproval(id);
  if (!Number.isInteger(id) || id < 1) return <MissingPage />;
  if (error) return <Problem error={error} />;
  if (approval === undefined) return <Skeleton height={400} />;
  if (approval === null) return <EmptyState title={words.missing} />;
  return (
    <Stack maw={900}>
      <Breadcrumbs>
        <Anchor renderRoot={(props) => <Link {...props} to="/approvals" />}>{text.nav.approvals}</Anchor>
        <Text>{words.title(id)}</Text>
      </Breadcrumbs>
      <Group>
        <Title order={1} size="h2">
          {words.title(id)}: {approval.action}
        </Title>
        <ApprovalState state={approval.state} />
        <RiskBadge risk={approval.risk} />
      </Group>
      {approval.stateReason !== null && <Text size="sm">{approval.stateReason}</Text>}
      <Request approval={approval} />
      <Plan plan={approval.plan} />
      <Card withBorder padding="sm">
        <Member label={words.digest}>
          <Code style={{ overflowWrap: 'anywhere' }}>{approval.digest}</Code>
        </Member>
        <Text size="xs" c="dimmed">
          {words.digestHelp}
        </Text>
      </Card>
      <Decisions approval={approval} />
      <Decide key={approval.digest} approval={approval} />
    </Stack>
  );
};

const Member = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Text>
  </div>
);

const JsonMember = ({ label, value }: { label: string; value: unknown }) => (
  <Member label={label}>
    <Code block tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </Code>
  </Member>
);

const Request = ({ approval: { reason, keyId, taskIds, params, createdAt, expiresAt } }: { approval: Approval }) => (
  <Card withBorder padding="sm">
    <Stack gap="xs">
      <Member label={words.reason}>{reason}</Member>
      <Group gap="xl">
        <Member label={words.key}>
          <Link to="/audit" search={{ keyId }}>
            {words.keyNumber(keyId)}
          </Link>
        </Member>
        <Member label={words.tasks}>
          <Group gap="xs">
            {taskIds.map((id) => (
              <Link key={id} to="/tasks/$id" params={{ id: String(id) }} search={{ tab: 'definition' }}>
                {words.taskNumber(id)}
              </Link>
            ))}
          </Group>
        </Member>
        <Member label={words.columns.requested}>
          <TimeText at={createdAt} />
        </Member>
        <Member label={words.columns.expires}>
          <TimeText at={expiresAt} />
        </Member>
      </Group>
      {Object.keys(params).length > 0 && <JsonMember label={words.params} value={params} />}
    </Stack>
  </Card>
);

const AgentNames = ({ ids }: { ids: readonly number[] }) =>
  ids.length === 0
    ? '–'
    : ids.map((id, i) => (
        <Fragment key={id}>
          {i > 0 && ', '}
          <RecordName name="agents" id={id} />
        </Fragment>
      ));

const Plan = ({ plan }: { plan: Approval['plan'] }) => {
  const load = [scaled(plan.estimatedPps, 'pps'), scaled(plan.estimatedBps, 'bit/s')].filter((part) => part !== '–');
  return (
    <Section title={words.plan}>
      <Stack gap="xs">
        <Text size="sm">{plan.summary}</Text>
        <Group gap="xl" align="flex-start">
          <Member label={words.agents}>
            <AgentNames ids={plan.agents.map(({ id }) => Number(id))} />
          </Member>
          <Member label={words.targets}>{plan.targets.join(', ') || '–'}</Member>
          <Member label={words.load}>{load.join(' · ') || '–'}</Member>
          <Member label={words.duration}>{clock(plan.estimatedDurationSec)}</Member>
        </Group>
        {plan.warnings.length > 0 && (
          <Member label={words.warnings}>
            {plan.warnings.map((warning) => (
              <Text key={warning} size="sm">
                {warning}
              </Text>
            ))}
          </Member>
        )}
        {plan.conflicts.length > 0 && <JsonMember label={words.conflicts} value={plan.conflicts} />}
      </Stack>
    </Section>
  );
};

const Decisions = ({ approval: { decisions, requiredDecisions, policy, result } }: { approval: Approval }) => (
  <Section title={words.decisions}>
    <Text size="sm">
      {policy === 'human'
        ? words.needed(decisions.filter(({ decision }) => decision === 'approve').length, requiredDecisions)
        : words.noDecision}
    </Text>
    {decisions.map(({ userID, decision, comment, at }) => (
      <Text key={`${userID} ${at}`} size="sm">
        {words.outcomes[decision] ?? decision}, #{userID}, <TimeText at={at} /> {comment}
      </Text>
    ))}
    {result !== null && <JsonMember label={words.result} value={result} />}
  </Section>
);
