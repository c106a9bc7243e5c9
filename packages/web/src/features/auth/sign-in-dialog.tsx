import { Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onSignInWanted, type SignInReason } from '../../lib/client.ts';
import { useSession } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Lies over the page when the session ran out: the form below keeps what was typed. */
export const SignInDialog = () => {
  const [reason, setReason] = useState<SignInReason>();
  const { data: user } = useSession();
  const queries = useQueryClient();
  useEffect(() => onSignInWanted(setReason), []);
  const goOn = () => {
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
        <SignInForm email={user?.email ?? ''} onDone={goOn} />
      </Stack>
    </Modal>
  );
};
