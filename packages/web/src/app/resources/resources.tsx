import { AgentBadge, TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { idOf, type Resource } from '../../components/resource/resource.ts';
import { AgentDetails } from '../../features/agents/agent-details.tsx';
import { JoinButton } from '../../features/agents/join-dialog.tsx';
import { TaskListActions } from '../../features/tasks/task-list-actions.tsx';
import { text } from '../../lib/text.ts';
import { assetResources } from './asset-resources.tsx';
import { peopleResources } from './people-resources.tsx';

const { nav } = text;
const changed = { key: 'updatedAt', header: text.columns.changed, isMinor: true };
const issuer = { key: 'issuer', header: text.columns.by, isMinor: true };
const named = { key: 'name', header: text.columns.name };

/** The collections that need no page of their own: columns, and a word for those who come first. */
export const resources: readonly Resource[] = [
  {
    name: 'tasks',
    title: nav.tasks,
    hint: 'Begin with a new test; its task stays here.',
    createTo: '/new',
    header: <TaskListActions />,
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
    name: 'taskTemplates',
    title: nav.templates,
    hint: 'A template makes the same test for other agents in a moment.',
    columns: [named, { key: 'description', header: 'What it does' }, { key: 'tags', header: 'Tags' }, changed],
  },
  ...assetResources,
  ...peopleResources,
];
