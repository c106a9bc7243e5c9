import { AgentBadge, TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { idOf, type Resource } from '../../components/resource/resource.ts';
import { AgentDetails } from '../../features/agents/agent-details.tsx';
import { JoinButton } from '../../features/agents/join-dialog.tsx';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';

const { nav } = text;
const changed = { key: 'updatedAt', header: 'Changed' };
const issuer = { key: 'issuer', header: 'By' };
const named = { key: 'name', header: 'Name' };

/** The collections that need no page of their own: columns, and a word for those who come first. */
export const resources: readonly Resource[] = [
  {
    name: 'tasks',
    title: nav.tasks,
    hint: 'Begin with a new test; its task stays here.',
    createTo: '/new',
    itemTo: ({ id }) => `/tasks/${id}`,
    columns: [
      { key: 'comment', header: 'Task', render: ({ comment, id }) => String(comment || `#${id}`) },
      { key: 'status', header: 'State', render: ({ status }) => <TaskBadge value={Number(status)} /> },
      { key: 'verdict', header: 'Verdict', render: ({ verdict }) => <VerdictBadge value={Number(verdict)} /> },
      { key: 'startedAt', header: 'Started' },
      { key: 'finishedAt', header: 'Ended' },
      issuer,
    ],
    filters: [
      {
        name: 'status',
        label: 'State',
        options: [
          { value: '1,2,3,4,5,6', label: 'active' },
          { value: '7', label: 'finished' },
          { value: '8', label: 'stopped' },
          { value: '9', label: 'failed' },
        ],
      },
    ],
  },
  {
    name: 'agents',
    title: nav.agents,
    hint: 'Make a join token and run the command on the machine that shall send or answer traffic.',
    columns: [
      named,
      { key: 'status', header: 'State', render: ({ status }) => <AgentBadge value={Number(status)} /> },
      { key: 'hostname', header: 'Host' },
      { key: 'version', header: 'Version' },
      { key: 'cpuCores', header: 'Cores', align: 'right' },
      { key: 'tags', header: 'Tags' },
      { key: 'lastSeenAt', header: 'Last seen' },
    ],
    form: ['name', 'comment', 'tags'],
    header: <JoinButton />,
    details: (item) => <AgentDetails id={idOf(item)} />,
  },
  {
    name: 'projects',
    title: nav.projects,
    hint: 'A project keeps the tasks of one device or release together.',
    columns: [
      named,
      { key: 'taskCount', header: 'Tasks', align: 'right' },
      { key: 'activeTaskCount', header: 'Active', align: 'right' },
      { key: 'errorTaskCount', header: 'Failed', align: 'right' },
      { key: 'lastActivityAt', header: 'Last activity' },
      issuer,
    ],
  },
  {
    name: 'networks',
    title: nav.networks,
    hint: 'Networks give tests their client and server addresses.',
    columns: [named, { key: 'subnet', header: 'Subnet' }, { key: 'gateway', header: 'Gateway' }, changed, issuer],
  },
  {
    name: 'macs',
    title: nav.macs,
    hint: 'Addresses or pools that emulated hosts use.',
    columns: [named, { key: 'address', header: 'Address' }, { key: 'kind', header: 'Kind' }, changed],
  },
  {
    name: 'tunnels',
    title: nav.tunnels,
    hint: 'Tunnels that test traffic goes through.',
    columns: [named, { key: 'type', header: 'Type' }, changed, issuer],
  },
  {
    name: 'certificates',
    title: nav.certificates,
    hint: 'Import one, or let Rushhour make one.',
    columns: [named, { key: 'hasPrivate', header: 'Private key' }, changed, issuer],
  },
  {
    name: 'files',
    title: nav.files,
    hint: 'Captures, recordings, payloads and dictionaries. Drop a file here.',
    columns: [
      named,
      { key: 'category', header: 'Category' },
      { key: 'size', header: 'Size', align: 'right', render: ({ size }) => bytes(size as number) },
      { key: 'tags', header: 'Tags' },
      { key: 'createdAt', header: 'Added' },
    ],
  },
  {
    name: 'applications',
    title: nav.applications,
    hint: 'Made from a capture: sessions that can be replayed with changing values.',
    columns: [named, { key: 'tags', header: 'Tags' }, { key: 'mode', header: 'Mode' }, changed],
  },
  {
    name: 'dictionaries',
    title: nav.dictionaries,
    hint: 'Lists and tables that tests draw values from.',
    columns: [
      named,
      { key: 'type', header: 'Type' },
      { key: 'rowCount', header: 'Rows', align: 'right' },
      { key: 'tags', header: 'Tags' },
      changed,
    ],
  },
  {
    name: 'taskTemplates',
    title: nav.templates,
    hint: 'A template makes the same test for other agents in a moment.',
    columns: [named, { key: 'description', header: 'What it does' }, { key: 'tags', header: 'Tags' }, changed],
  },
  {
    name: 'users',
    title: nav.users,
    hint: 'People who may sign in.',
    columns: [
      { key: 'email', header: 'E-mail' },
      { key: 'realName', header: 'Name' },
      { key: 'group', header: 'Group', render: ({ group }) => (group as { name: string } | null)?.name ?? '–' },
      { key: 'isActive', header: 'Active' },
      { key: 'lastLogin', header: 'Last sign-in' },
    ],
  },
  {
    name: 'groups',
    title: nav.groups,
    hint: 'Groups say what their users may do.',
    columns: [
      named,
      { key: 'permissions', header: 'Permissions', align: 'right' },
      { key: 'users', header: 'Users', align: 'right' },
      changed,
    ],
  },
];
