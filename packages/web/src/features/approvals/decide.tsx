import { Button, Card, Group, Stack, Text, Textarea } from '@mantine/core';
import type { Approval } from '@rushhour/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { approvals: words } = text;
type Decision = 'approve' | 'reject' | 'revoke';
const messages: Record<Decision, string> = { approve: words.approved, reject: words.rejected, revoke: words.revoked };

/** Approves, rejects or revokes a request. An approval names the digest on the page, so that it covers nothing else. */
export const Decide = ({ approval }: { approval: Approval }) => {
  const { id, digest, state, policy, decisions, requiredDecisions } = approval;
  const isApproved = decisions.filter(({ decision }) => decision === 'approve').length >= requiredDecisions;
  const [comment, setComment] = useState('');
  const may = useMay();
  const toasts = useToasts();
  const queries = useQueryClient();
  const decide = useMutation({
    mutationFn: (decision: Decision) =>
      client.aiAdmin.decide({
        body: {
          array: [id],
          decision,
          ...(comment !== '' && { comment }),
          ...(decision === 'approve' && { digests: { [id]: digest } }),
        },
      }),
    onSuccess: (_, decision) => toasts.done(messages[decision]),
    onSettled: () => queries.invalidateQueries({ queryKey: ['aiAdmin'] }),
  });
  if (state !== 'pending' || !may('aiAdmin', 'decide')) return decide.error ? <Problem error={decide.error} /> : null;
  return (
    <Card withBorder padding="sm">
      <Stack gap="sm">
        {policy === 'human' && isApproved && <Text size="sm">{words.waiting}</Text>}
        <Textarea
          label={words.comment}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          maxLength={1024}
          autosize
          minRows={2}
        />
        {decide.error && <Problem error={decide.error} />}
        <Group>
          {policy === 'human' && !isApproved && (
            <Button loading={decide.isPending} onClick={() => decide.mutate('approve')}>
              {words.approve}
            </Button>
          )}
          <Button color="red" variant="outline" loading={decide.isPending} onClick={() => decide.mutate('reject')}>
            {words.reject}
          </Button>
          <Button variant="default" loading={decide.isPending} onClick={() => decide.mutate('revoke')}>
            {words.revoke}
          </Button>
        </Group>
      </Stack>
    </Card>
  );
};
