import { Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onSignInRequired, type SignInReason } from '../../lib/client.ts';
import { useSession } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Covers the page when the session has expired or an operation needs a fresh password. Forms below keep their input. */
export const SignInDialog = () => {
  const [reason, setReason] = useState<SignInReason>();
  const { data: user } = useSession();
  const queries = useQueryClient();
  useEffect(() => onSignInRequired(setReason), []);
  const proceed = () => {
    setReason(undefined);
    void queries.invalidateQueries();
  };
  return (
    <Modal
      opened={reason !== undefined}
      onClose={() => reason === 'fresh' && setReason(undefined)}
      withCloseButton={reason === 'fresh'}
      zIndex={1000}
      title={text.auth.title}
      centered
    >
      <Stack>
        <Text size="sm">{text.auth[reason ?? 'again']}</Text>
        <SignInForm email={user?.email ?? ''} onDone={proceed} />
      </Stack>
    </Modal>
  );
};
