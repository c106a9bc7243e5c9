import type { Group } from '@rushhour/contract';
import type { Resource } from '../../components/resource/resource.ts';
import { Credentials } from '../../features/people/credentials.tsx';
import { GroupDetails } from '../../features/people/group-details.tsx';
import { PermissionMatrix } from '../../features/people/permission-matrix.tsx';
import { UserActions } from '../../features/people/user-actions.tsx';
import { text } from '../../lib/text.ts';
import { columns, headers } from './columns.ts';

const { hints, nav } = text;
type Permissions = { value: number }[];

/** Users and groups. */
export const peopleResources: readonly Resource[] = [
  {
    name: 'users',
    title: nav.users,
    hint: hints.users,
    columns: [
      { key: 'email', header: headers.email },
      { key: 'realName', header: headers.name },
      { key: 'group', header: headers.group, render: ({ group }) => (group as { name: string } | null)?.name ?? '–' },
      { key: 'isActive', header: headers.active, isMinor: true },
      { key: 'lastLogin', header: headers.lastSignIn, isMinor: true },
    ],
    form: ['email', 'realName', 'groupID'],
    actions: (items, done) => <UserActions items={items} done={done} />,
    afterCreate: (reply) => <Credentials {...(reply as { email: string; password: string })} />,
    hidden: ['group', 'passwordLength'],
  },
  {
    name: 'groups',
    title: nav.groups,
    hint: hints.groups,
    columns: [
      columns.name,
      { key: 'permissions', header: headers.permissions, align: 'right' },
      { key: 'users', header: headers.users, align: 'right' },
      columns.changed,
    ],
    controls: {
      permissions: ({ value, onChange }) => (
        <PermissionMatrix value={(value as Permissions | undefined) ?? []} onChange={onChange} />
      ),
    },
    details: (item) => <GroupDetails group={item as unknown as Group} />,
    hidden: ['permissions', 'users'],
  },
];
