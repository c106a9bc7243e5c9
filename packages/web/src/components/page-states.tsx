import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';
import { sentenceOf } from './toasts.tsx';

export const MissingPage = () => (
  <Center mih="60vh">
    <Stack align="center">
      <Title order={2}>{text.app.notFound}</Title>
      <Link to="/">{text.app.goHome}</Link>
    </Stack>
  </Center>
);

export const BrokenPage = ({ error }: ErrorComponentProps) => {
  const router = useRouter();
  return (
    <Center mih="60vh">
      <Stack align="center" maw={600}>
        <Title order={2}>{text.app.broken}</Title>
        <Text style={{ whiteSpace: 'pre-line' }}>{sentenceOf(error)}</Text>
        <Button onClick={() => void router.invalidate()}>{text.app.tryAgain}</Button>
      </Stack>
    </Center>
  );
};

interface GuardedProps {
  /** The operation a person must be allowed to call to use the page. */
  needs: readonly [Parameters<ReturnType<typeof useMay>>[0], string];
  children: ReactNode;
}

/** A page whose address somebody knows who may not use it says so instead of asking the controller in vain. */
export const Guarded = ({ needs, children }: GuardedProps) =>
  useMay()(...needs) ? (
    children
  ) : (
    <Center mih="60vh">
      <Stack align="center">
        <Title order={1} size="h3">
          {text.app.notAllowed}
        </Title>
        <Link to="/">{text.app.goHome}</Link>
      </Stack>
    </Center>
  );

/** What a page says when there is nothing to show, and what to do about it. */
export const EmptyState = ({ title, children }: { title: string; children?: ReactNode }) => (
  <Center py="xl">
    <Stack align="center" gap="xs">
      <Text c="dimmed">{title}</Text>
      {children}
    </Stack>
  </Center>
);
