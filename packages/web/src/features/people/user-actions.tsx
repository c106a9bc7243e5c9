import { Button, Modal } from '@mantine/core';
import { IconKey, IconLock, IconLockOpen } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog } from '../../components/dialogs.tsx';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { type Item, idOf, nameOf } from '../../components/resource/resource.ts';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { Credentials } from './credentials.tsx';

const { people: words } = text;

/** Blocks and unblocks users, and resets the password of one. */
export const UserActions = ({ items, done }: { items: readonly Item[]; done: () => void }) => {
  const may = useMay();
  const [only] = items;
  return (
    <>
      {may('users', 'block') && items.some(({ isActive }) => isActive) && (
        <BulkButton
          label={words.block}
          icon={IconLock}
          items={items}
          run={(array) => client.users.block({ body: { array } })}
          onDone={done}
          question={words.blockQuestion}
        />
      )}
      {may('users', 'unblock') && items.some(({ isActive }) => !isActive) && (
        <BulkButton
          label={words.unblock}
          icon={IconLockOpen}
          items={items}
          run={(array) => client.users.unblock({ body: { array } })}
          onDone={done}
        />
      )}
      {may('users', 'resetPassword') && items.length === 1 && only && <ResetButton user={only} />}
    </>
  );
};

const ResetButton = ({ user }: { user: Item }) => {
  const [isOpen, setOpen] = useState(false);
  const reset = useMutation({ mutationFn: () => client.users.resetPassword({ params: { id: idOf(user) } }) });
  const close = () => {
    setOpen(false);
    reset.reset();
  };
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
