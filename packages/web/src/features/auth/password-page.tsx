import { Alert, Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { client } from '../../lib/client.ts';
import { explain } from '../../lib/explain.ts';
import { text } from '../../lib/text.ts';
import { AuthCard } from './auth-card.tsx';

/** Replaces the temporary password, which an administrator has seen. Required before anything else. */
export const PasswordPage = () => {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async (fields: FormData) => {
      const newPassword = String(fields.get('next'));
      if (newPassword !== fields.get('repeat')) throw new Error(text.auth.differ);
      await client.auth.password({ body: { currentPassword: String(fields.get('current')), newPassword } });
    },
    onSuccess: () => {
      queries.clear();
      return navigate({ to: '/' });
    },
  });
  return (
    <AuthCard title={text.auth.setTitle}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(new FormData(event.currentTarget));
        }}
      >
        <Stack>
          <Text size="sm">{text.auth.setText}</Text>
          {change.error && (
            <Alert color="red" role="alert" style={{ whiteSpace: 'pre-line' }}>
              {explain(change.error)}
            </Alert>
          )}
          <PasswordInput name="current" label={text.auth.current} autoComplete="current-password" required />
          <PasswordInput name="next" label={text.auth.next} autoComplete="new-password" minLength={8} required />
          <PasswordInput name="repeat" label={text.auth.repeat} autoComplete="new-password" required />
          <Button type="submit" loading={change.isPending}>
            {text.auth.set}
          </Button>
        </Stack>
      </form>
    </AuthCard>
  );
};
