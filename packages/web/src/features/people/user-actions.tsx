import { Button, Modal } from '@mantine/core';
import { IconKey, IconLock, IconLockOpen } from '@tabler/icons-react';
import { useState } from 'react';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { type Item, idOf, nameOf } from '../../components/resource/resource.ts';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { Credentials } from './credentials.tsx';

const { people: words } = text;

/** Block, unblock, and a new temporary password for one. */
export const UserActions = ({ items, done }: { items: readonly Item[]; done: () => void }) => {
  const may = useMay();
  const [only] = items;
  return (
    <>
      {may('users', 'block') && items.some(({ isActive }) => isActive) && (
        <BulkButton
          label={words.block}
          icon={<IconLock size={16} />}
          items={items}
          run={(array) => client.users.block({ body: { array } })}
          onDone={done}
          question={words.blockQuestion}
        />
      )}
      {may('users', 'unblock') && items.some(({ isActive }) => !isActive) && (
        <BulkButton
          label={words.unblock}
          icon={<IconLockOpen size={16} />}
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
  const [credentials, setCredentials] = useState<{ email: string; password: string }>();
  const [isAsking, setAsking] = useState(false);
  const toasts = useToasts();
  const reset = async () => {
    try {
      setCredentials(await client.users.resetPassword({ params: { id: idOf(user) } }));
    } catch (error) {
      setAsking(false);
      toasts.problem(error);
    }
  };
  return (
    <>
      <Button variant="default" leftSection={<IconKey size={16} />} onClick={() => setAsking(true)}>
        {words.reset}
      </Button>
      <Modal
        opened={isAsking}
        onClose={() => {
          setAsking(false);
          setCredentials(undefined);
        }}
        title={nameOf(user)}
        closeOnClickOutside={false}
      >
        {credentials ? (
          <Credentials {...credentials} />
        ) : (
          <>
            {words.resetQuestion}
            <Button mt="md" fullWidth onClick={() => void reset()}>
              {words.reset}
            </Button>
          </>
        )}
      </Modal>
    </>
  );
};
