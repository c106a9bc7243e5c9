import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

const { settings: words } = text;

interface SendTestProps {
  /** Name of the section of the settings. */
  section: string;
  stored: unknown;
}

/** Sends a notification to a webhook or a mail address; its delivery is listed among the notifications. */
export const SendTest = ({ section, stored }: SendTestProps) => {
  const [address, setAddress] = useState('');
  const toasts = useToasts();
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: (sendTest: { webhook?: string; mail?: string }) => client.settings.update({ body: { sendTest } }),
    onSuccess: () => {
      toasts.done(words.testSent);
      return queries.invalidateQueries({ queryKey: ['notifications'] });
    },
    onError: (error) => toasts.problem(error),
  });
  if (section === 'webhooks') {
    const urls = (stored as { url: string }[]).map(({ url }) => url);
    return (
      <Group gap="xs">
        {urls.map((url) => (
          <Button key={url} variant="default" loading={send.isPending} onClick={() => send.mutate({ webhook: url })}>
            {words.testWebhook(new URL(url).host)}
          </Button>
        ))}
      </Group>
    );
  }
  if (section !== 'mail' || (stored as { host: string }).host === '') return null;
  return (
    <Group gap="xs" align="end">
      <TextInput
        label={words.testAddress}
        type="email"
        value={address}
        onChange={(event) => setAddress(event.currentTarget.value)}
      />
      <Button
        variant="default"
        disabled={address === ''}
        loading={send.isPending}
        onClick={() => send.mutate({ mail: address })}
      >
        {words.testMail}
      </Button>
    </Group>
  );
};
