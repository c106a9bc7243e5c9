import { Alert, Button, Card, Center, Group, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client } from '../../lib/client.ts';
import { explain } from '../../lib/explain.ts';
import { text } from '../../lib/text.ts';
import { SignInForm } from './sign-in-form.tsx';

/** The frame of pages before the sign-in. */
const AuthCard = ({ title, children }: { title: string; children: ReactNode }) => (
  <Center mih="100vh" component="main">
    <Card withBorder shadow="sm" w={400} padding="lg">
      <Stack>
        <Group gap="xs">
          <IconActivity size={26} color="var(--mantine-color-orange-6)" aria-hidden />
          <Text fw={700}>{text.app.name}</Text>
        </Group>
        <Title order={1} size="h3">
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  </Center>
);

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
          <PasswordInput name="next" label={text.auth.next} autoComplete="new-password" required />
          <PasswordInput name="repeat" label={text.auth.repeat} autoComplete="new-password" required />
          <Button type="submit" loading={change.isPending}>
            {text.auth.set}
          </Button>
        </Stack>
      </form>
    </AuthCard>
  );
};

export const SignInPage = () => {
  const { to } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const proceed = async (mustSetPassword: boolean) => {
    queries.clear();
    // Only paths of this site: a link from outside must not redirect elsewhere.
    const target = to?.startsWith('/') && !to.startsWith('//') ? to : '/';
    await navigate({ to: mustSetPassword ? '/password' : target });
  };
  return (
    <AuthCard title={text.auth.title}>
      <SignInForm onDone={({ isRequiredToSetPassword }) => void proceed(isRequiredToSetPassword)} />
    </AuthCard>
  );
};
