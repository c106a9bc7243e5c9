import { Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onSignedOut } from '../../lib/client.ts';
import { useSession } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Lies over the page when the session ran out: the form below keeps what was typed. */
export const SignInDialog = () => {
  const [isOpen, setOpen] = useState(false);
  const { data: user } = useSession();
  const queries = useQueryClient();
  useEffect(() => onSignedOut(() => setOpen(true)), []);
  const goOn = () => {
    setOpen(false);
    void queries.invalidateQueries();
  };
  return (
    <Modal opened={isOpen} onClose={() => {}} withCloseButton={false} zIndex={1000} title={text.auth.title} centered>
      <Stack>
        <Text size="sm">{text.auth.again}</Text>
        <SignInForm email={user?.email ?? ''} onDone={goOn} />
      </Stack>
    </Modal>
  );
};
