import { Card, Center, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconActivity } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../../lib/text.ts';
import { PasswordForm } from './password-form.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** The frame of pages before the sign-in. */
const AuthCard = ({ title, children }: { title: string; children: ReactNode }) => {
  useDocumentTitle(text.app.titleOf(title));
  return (
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
};

/** Replaces the temporary password, which an administrator has seen. Required before anything else. */
export const PasswordPage = () => {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const done = () => {
    queries.clear();
    return navigate({ to: '/' });
  };
  return (
    <AuthCard title={text.auth.setTitle}>
      <Text size="sm">{text.auth.setText}</Text>
      <PasswordForm currentLabel={text.auth.current} submitLabel={text.auth.set} onDone={done} />
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
