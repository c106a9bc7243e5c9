import { Card, Center, Group, Stack, Text, Title } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { text } from '../../lib/text.ts';
import { SignInForm } from './sign-in-form.tsx';

export const SignInPage = () => {
  const { to } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const goOn = async (mustSet: boolean) => {
    queries.clear();
    // Only a path of our own: an address given from outside must not lead away.
    const back = to?.startsWith('/') && !to.startsWith('//') ? to : '/';
    await navigate({ to: mustSet ? '/password' : back });
  };
  return (
    <Center mih="100vh" component="main">
      <Card withBorder shadow="sm" w={380} padding="lg">
        <Stack>
          <Group gap="xs">
            <IconActivity size={26} color="var(--mantine-color-orange-6)" aria-hidden />
            <Text fw={700}>{text.app.name}</Text>
          </Group>
          <Title order={1} size="h3">
            {text.auth.title}
          </Title>
          <SignInForm onDone={({ isRequiredToSetPassword }) => void goOn(isRequiredToSetPassword)} />
        </Stack>
      </Card>
    </Center>
  );
};
