import { Card, Center, Group, Stack, Text, Title } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../../lib/text.ts';

/** The frame of pages before the sign-in. */
export const AuthCard = ({ title, children }: { title: string; children: ReactNode }) => (
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
