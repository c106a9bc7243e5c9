import { agentStatus } from '@rushhour/contract';
import { IconLock, IconLockOpen } from '@tabler/icons-react';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { type Item, idOf } from '../../components/resource/resource.ts';
import { TasksOf } from '../../components/resource/tasks-of.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { agentActions: words } = text;

/** Opens the tasks of an agent; blocks and unblocks agents. */
export const AgentActions = ({ items, done }: { items: readonly Item[]; done: () => void }) => {
  const may = useMay();
  const [only] = items.length === 1 ? items : [];
  return (
    <>
      {only && <TasksOf label={words.tasks} filter={{ agentID: idOf(only) }} />}
      {may('agents', 'block') && items.some(({ status }) => status !== agentStatus.blocked) && (
        <BulkButton
          label={words.block}
          icon={IconLock}
          items={items}
          run={(array) => client.agents.block({ body: { array } })}
          onDone={done}
          question={words.blockQuestion}
        />
      )}
      {may('agents', 'unblock') && items.some(({ status }) => status === agentStatus.blocked) && (
        <BulkButton
          label={words.unblock}
          icon={IconLockOpen}
          items={items}
          run={(array) => client.agents.unblock({ body: { array } })}
          onDone={done}
        />
      )}
    </>
  );
};
