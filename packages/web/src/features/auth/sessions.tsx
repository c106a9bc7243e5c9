import { Badge } from '@mantine/core';
import type { UserSession } from '@rushhour/contract';
import { IconLogout } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { IconButton } from '../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { sessionKey } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { profile: words } = text;

/** Where the user is signed in; each session but this one can be ended. */
export const Sessions = ({ sessions }: { sessions: readonly UserSession[] }) => {
  const queries = useQueryClient();
  const toasts = useToasts();
  const end = useMutation({
    mutationFn: (id: number) => client.users.updateMe({ body: { endSessions: [id] } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: sessionKey });
      toasts.done(words.sessionEnded);
    },
    onError: (error) => toasts.problem(error),
  });
  return <DataTable label={words.sessions} columns={columnsOf(end.mutate)} rows={sessions} keyOf={({ id }) => id} />;
};

const columnsOf = (onEnd: (id: number) => void): DataColumn<UserSession>[] => [
  { header: words.signedInFrom, cell: ({ address }) => address },
  { header: words.signedInWith, isMinor: true, isLong: true, cell: ({ client: program }) => nameOf(program) },
  { header: words.signedInAt, cell: ({ createdAt }) => <TimeText at={createdAt} /> },
  {
    label: words.signOutEverywhere,
    width: 110,
    cell: ({ id, address, isCurrent }) =>
      isCurrent ? (
        <Badge variant="light" tt="none">
          {words.thisSession}
        </Badge>
      ) : (
        <IconButton label={words.endSession(address)} icon={IconLogout} onClick={() => onEnd(id)} />
      ),
  },
];

const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'];
const systems = ['Windows', 'Android', 'iPhone', 'Mac OS X', 'Linux'];

/** Browser and system of a User-Agent, or its first word. */
const nameOf = (userAgent: string): string => {
  const browser = browsers.find((name) => userAgent.includes(`${name}/`));
  const system = systems.find((name) => userAgent.includes(name));
  const [first = ''] = userAgent.split(' ');
  return browser === undefined ? first : [browser, system].filter((name) => name !== undefined).join(', ');
};
