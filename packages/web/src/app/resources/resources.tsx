import { activeStatuses, runStatus } from '@rushhour/contract';
import { AgentBadge, TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { idOf, type Resource } from '../../components/resource/resource.ts';
import { AgentActions } from '../../features/agents/agent-actions.tsx';
import { AgentDetails } from '../../features/agents/agent-details.tsx';
import { JoinButton } from '../../features/agents/join-dialog.tsx';
import { ProjectActions } from '../../features/projects/project-actions.tsx';
import { TaskListActions } from '../../features/tasks/task-list-actions.tsx';
import { text } from '../../lib/text.ts';
import { assetResources } from './asset-resources.tsx';
import { columns, headers } from './columns.ts';
import { peopleResources } from './people-resources.tsx';
import { securityResources } from './security-resources.tsx';

const { hints, nav, states } = text;

/** The collections with generated list, form and record pages. */
export const resources: readonly Resource[] = [
  {
    name: 'tasks',
    title: nav.tasks,
    hint: hints.tasks,
    createTo: '/new',
    header: <TaskListActions />,
    itemTo: ({ id }) => `/tasks/${id}`,
    columns: [
      { key: 'comment', header: headers.task, render: ({ comment, id }) => String(comment || `#${id}`) },
      { key: 'status', header: headers.status, render: ({ status }) => <TaskBadge value={Number(status)} /> },
      { key: 'verdict', header: headers.verdict, render: ({ verdict }) => <VerdictBadge value={Number(verdict)} /> },
      { key: 'startedAt', header: headers.started, isMinor: true },
      { key: 'finishedAt', header: headers.finished, isMinor: true },
      columns.createdBy,
    ],
    filters: [
      {
        name: 'status',
        label: headers.status,
        options: [
          { value: activeStatuses.join(','), label: states.active },
          { value: String(runStatus.finished), label: states.finished },
          { value: String(runStatus.stopped), label: states.stopped },
          { value: String(runStatus.failed), label: states.failed },
        ],
      },
    ],
  },
  {
    name: 'agents',
    title: nav.agents,
    hint: hints.agents,
    columns: [
      columns.name,
      { key: 'status', header: headers.status, render: ({ status }) => <AgentBadge value={Number(status)} /> },
      { key: 'hostname', header: headers.host, isMinor: true },
      { key: 'version', header: headers.version, isMinor: true },
      { key: 'cpuCores', header: headers.cores, align: 'right', isMinor: true },
      columns.tags,
      { key: 'lastSeenAt', header: headers.lastSeen },
    ],
    form: ['name', 'comment', 'tags'],
    header: <JoinButton />,
    actions: (items, done) => <AgentActions items={items} done={done} />,
    details: (item) => <AgentDetails id={idOf(item)} />,
  },
  {
    name: 'projects',
    title: nav.projects,
    hint: hints.projects,
    columns: [
      columns.name,
      { key: 'taskCount', header: headers.tasks, align: 'right' },
      { key: 'activeTaskCount', header: headers.active, align: 'right', isMinor: true },
      { key: 'errorTaskCount', header: headers.failed, align: 'right' },
      { key: 'lastActivityAt', header: headers.lastActivity, isMinor: true },
      columns.createdBy,
    ],
    actions: (items, done) => <ProjectActions items={items} done={done} />,
  },
  {
    name: 'taskTemplates',
    title: nav.templates,
    hint: hints.templates,
    columns: [columns.name, { key: 'description', header: headers.description }, columns.tags, columns.changed],
  },
  ...assetResources,
  ...securityResources,
  ...peopleResources,
];
