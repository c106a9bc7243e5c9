import { Text } from '@mantine/core';
import { activeStatuses, agentStatus, type Group, runStatus, type TaskTemplate } from '@rushhour/contract';
import { IconArchive, IconArchiveOff, IconArrowBackUp, IconLock, IconLockOpen } from '@tabler/icons-react';
import { AgentBadge, TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { idOf, nameOf, type Resource } from '../../components/resource/resource.ts';
import { TestWithButton } from '../../components/test-with-button.tsx';
import { AgentActions } from '../../features/agents/agent-actions.tsx';
import { AgentDetails } from '../../features/agents/agent-details.tsx';
import { JoinButton } from '../../features/agents/join-dialog.tsx';
import { questionOf } from '../../features/new-test/new-test-form.ts';
import { Credentials } from '../../features/people/credentials.tsx';
import { GroupDetails } from '../../features/people/group-details.tsx';
import { PermissionMatrix } from '../../features/people/permission-matrix.tsx';
import { ResetPasswordButton } from '../../features/people/reset-password-button.tsx';
import { TaskBulk } from '../../features/tasks/task-bulk.tsx';
import { TaskListActions } from '../../features/tasks/task-list-actions.tsx';
import { TemplateDetails } from '../../features/templates/template-details.tsx';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';
import { assetResources } from './asset-resources.tsx';
import { columns } from './columns.ts';
import { securityResources } from './security-resources.tsx';

const { agents, hints, nav, people, projects, states, taskBulk, templates } = text;
const block = { operation: 'block', label: text.table.block, icon: IconLock };
const unblock = { operation: 'unblock', label: text.table.unblock, icon: IconLockOpen };
type Permissions = { value: number }[];

/** Users and groups. */
const peopleResources: readonly Resource[] = [
  {
    name: 'users',
    title: nav.users,
    hint: hints.users,
    columns: [
      { key: 'email' },
      { key: 'realName' },
      { key: 'group', render: ({ group }) => (group as { name: string } | null)?.name ?? '–' },
      { key: 'isActive', isMinor: true },
      { key: 'lastLogin', isMinor: true },
    ],
    form: ['email', 'realName', 'groupID'],
    bulk: [
      {
        ...block,
        question: people.blockQuestion,
        appliesTo: (items) => items.some(({ isActive }) => isActive),
      },
      { ...unblock, appliesTo: (items) => items.some(({ isActive }) => !isActive) },
    ],
    actions: ([user, ...others]) => user && others.length === 0 && <ResetPasswordButton user={user} />,
    afterCreate: (reply) => <Credentials {...(reply as { email: string; password: string })} />,
    hidden: ['group', 'passwordLength'],
  },
  {
    name: 'groups',
    title: nav.groups,
    hint: hints.groups,
    columns: [columns.name, { key: 'permissions', align: 'right' }, { key: 'users', align: 'right' }, columns.changed],
    controls: {
      permissions: ({ value, onChange }) => (
        <PermissionMatrix value={(value as Permissions | undefined) ?? []} onChange={onChange} />
      ),
    },
    details: (item) => <GroupDetails group={item as unknown as Group} />,
    hidden: ['permissions', 'users'],
  },
];

/** The collections with generated list, form and record pages. */
export const resources: readonly Resource[] = [
  {
    name: 'tasks',
    title: nav.tasks,
    hint: hints.tasks,
    createTo: '/new',
    createLabel: nav.newTest,
    header: <TaskListActions />,
    itemTo: ({ id }) => `/tasks/${id}`,
    columns: [
      { key: 'comment', header: text.editor.comment, render: ({ comment, id }) => String(comment || `#${id}`) },
      { key: 'status', render: ({ status }) => <TaskBadge value={Number(status)} /> },
      { key: 'verdict', render: ({ verdict }) => <VerdictBadge value={Number(verdict)} /> },
      { key: 'startedAt', isMinor: true },
      { key: 'finishedAt', isMinor: true },
      columns.createdBy,
    ],
    filters: [
      {
        name: 'status',
        label: labelOf('status'),
        options: [
          { value: activeStatuses.join(','), label: states.active },
          { value: String(runStatus.finished), label: states.finished },
          { value: String(runStatus.stopped), label: states.stopped },
          { value: String(runStatus.failed), label: states.failed },
        ],
      },
      {
        name: 'deleted',
        label: taskBulk.deleted.label,
        options: [
          { value: 'only', label: taskBulk.deleted.only },
          { value: 'all', label: taskBulk.deleted.all },
        ],
      },
    ],
    bulk: [
      {
        operation: 'restore',
        label: taskBulk.restore,
        icon: IconArrowBackUp,
        appliesTo: (items) => items.some(({ deletedAt }) => deletedAt !== null),
      },
    ],
    actions: (items, done) => <TaskBulk items={items} done={done} />,
    isRemovable: ({ deletedAt }) => deletedAt === null,
    removeText: taskBulk.removeText,
  },
  {
    name: 'agents',
    title: nav.agents,
    hint: hints.agents,
    columns: [
      columns.name,
      { key: 'status', render: ({ status }) => <AgentBadge value={Number(status)} /> },
      { key: 'hostname', isMinor: true },
      { key: 'version', isMinor: true },
      { key: 'cpuCores', align: 'right', isMinor: true },
      columns.tags,
      { key: 'lastSeenAt' },
    ],
    form: ['name', 'comment', 'tags'],
    header: <JoinButton />,
    // The page shows them above.
    hidden: ['interfaces'],
    taskFilter: 'agentID',
    bulk: [
      {
        ...block,
        question: agents.blockQuestion,
        appliesTo: (items) => items.some(({ status }) => status !== agentStatus.blocked),
      },
      { ...unblock, appliesTo: (items) => items.some(({ status }) => status === agentStatus.blocked) },
    ],
    actions: (items, done) => <AgentActions items={items} done={done} />,
    details: (item) => <AgentDetails id={idOf(item)} />,
  },
  {
    name: 'projects',
    title: nav.projects,
    hint: hints.projects,
    columns: [
      columns.name,
      { key: 'taskCount', align: 'right' },
      { key: 'activeTaskCount', align: 'right', isMinor: true },
      { key: 'errorTaskCount', align: 'right' },
      { key: 'lastActivityAt', isMinor: true },
      columns.createdBy,
    ],
    taskFilter: 'projectID',
    bulk: [
      {
        operation: 'archive',
        label: projects.archive,
        icon: IconArchive,
        question: projects.archiveQuestion,
        appliesTo: (items) => items.every(({ archivedAt }) => archivedAt === null),
      },
      {
        operation: 'unarchive',
        label: projects.unarchive,
        icon: IconArchiveOff,
        appliesTo: (items) => items.every(({ archivedAt }) => archivedAt !== null),
      },
    ],
  },
  {
    name: 'taskTemplates',
    title: nav.templates,
    hint: hints.templates,
    columns: [
      columns.name,
      {
        key: 'description',
        isMinor: true,
        render: ({ description }) => (
          <Text span inherit lineClamp={2}>
            {String(description)}
          </Text>
        ),
      },
      {
        key: 'tags',
        header: templates.question,
        isMinor: true,
        render: ({ tags }) => text.newTest.questions[questionOf({ tags: String(tags) })],
      },
    ],
    filters: [
      {
        name: 'tag',
        label: templates.question,
        options: Object.entries(text.newTest.questions)
          .filter(([value]) => value !== 'other')
          .map(([value, label]) => ({ value, label })),
      },
    ],
    isChangeable: ({ builtIn }) => builtIn !== true,
    isRemovable: ({ builtIn }) => builtIn !== true,
    actions: ([item, ...others]) => item && others.length === 0 && <TestWithButton template={nameOf(item)} />,
    details: (item) => <TemplateDetails template={item as unknown as TaskTemplate} />,
    hasPreview: true,
    hidden: ['description', 'slots', 'parameters'],
  },
  ...assetResources,
  ...securityResources,
  ...peopleResources,
];
