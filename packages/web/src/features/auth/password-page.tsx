import { Alert, Button, Card, Center, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { sentenceOf } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

/** Nobody goes on with a password that somebody else has seen. */
export const PasswordPage = () => {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const newPassword = String(fields.get('next'));
    if (newPassword !== fields.get('repeat')) return setProblem(text.auth.differ);
    setBusy(true);
    try {
      await client.auth.password({ body: { currentPassword: String(fields.get('current')), newPassword } });
      queries.clear();
      await navigate({ to: '/' });
    } catch (error) {
      setProblem(sentenceOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Center mih="100vh" component="main">
      <Card withBorder shadow="sm" w={400} padding="lg">
        <form onSubmit={(event) => void submit(event)}>
          <Stack>
            <Title order={1} size="h3">
              {text.auth.setTitle}
            </Title>
            <Text size="sm">{text.auth.setText}</Text>
            {problem && (
              <Alert color="red" role="alert" style={{ whiteSpace: 'pre-line' }}>
                {problem}
              </Alert>
            )}
            <PasswordInput name="current" label={text.auth.current} autoComplete="current-password" required />
            <PasswordInput name="next" label={text.auth.next} autoComplete="new-password" minLength={8} required />
            <PasswordInput name="repeat" label={text.auth.repeat} autoComplete="new-password" required />
            <Button type="submit" loading={isBusy}>
              {text.auth.set}
            </Button>
          </Stack>
        </form>
      </Card>
    </Center>
  );
};
