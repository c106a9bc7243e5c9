import { Button, Modal } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog } from '../../components/dialogs.tsx';
import { type Item, idOf, nameOf } from '../../components/resource/resource.ts';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { Credentials } from './credentials.tsx';

const { people: words } = text;

/** Resets the password of a user. */
export const ResetPasswordButton = ({ user }: { user: Item }) => {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const reset = useMutation({ mutationFn: () => client.users.resetPassword({ params: { id: idOf(user) } }) });
  const close = () => {
    setOpen(false);
    reset.reset();
  };
  if (!may('users', 'resetPassword')) return null;
  return (
    <>
      <Button variant="default" leftSection={<IconKey size={16} />} onClick={() => setOpen(true)}>
        {words.reset}
      </Button>
      {isOpen && reset.data === undefined && (
        <ConfirmDialog
          title={nameOf(user)}
          label={words.reset}
          error={reset.error}
          isBusy={reset.isPending}
          onConfirm={reset.mutate}
          onClose={close}
        >
          {words.resetQuestion}
        </ConfirmDialog>
      )}
      {isOpen && reset.data !== undefined && (
        <Modal opened onClose={close} title={nameOf(user)} closeOnClickOutside={false}>
          <Credentials {...reset.data} />
        </Modal>
      )}
    </>
  );
};
