import { type api, findPlugin, type TaskTemplate, type TemplateDraft, taskReferences } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { assertAllFound, assertFresh, crudHandlers, cursorOf, pageRequestOf } from '../../crud.ts';
import { conflict, forbidden, type Issue, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { allows } from '../../people/permissions.ts';
import type { Change } from '../../store/engine/change.ts';
import { dropLinks, type Kind, setLinks } from '../../store/engine/links.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { findTask, type StoredTemplate, taskTemplates } from '../../store/tasks/tasks.ts';
import { referenceIssues } from '../check/reference-rules.ts';
import { issuesWithThresholds } from '../check/task-with-thresholds.ts';
import { thresholdIssues } from '../check/threshold-rules.ts';
import { issuesOfTemplate, trialOf } from './check-template.ts';
import { templateOfTask } from './from-task.ts';

type Content = Pick<TaskTemplate, 'task' | 'slots' | 'parameters'>;

const maxChars = 1_048_576;

/** A template is stored only if a task can be made from it and all its records except agents exist. */
const assertValidTemplate = async (tx: Change, content: Content) => {
  if (JSON.stringify(content).length > maxChars) {
    const message = `is longer than ${maxChars} characters`;
    throw invalid([{ path: '/task', code: 'TEMPLATE_TOO_LARGE', message }], 'TEMPLATE_TOO_LARGE');
  }
  const issues = issuesOfTemplate(content, issuesWithThresholds);
  if (issues.length > 0) throw invalid(issues);
  const { task, isOpen } = trialOf(content);
  const named = await referenceIssues(tx, task as never, { withoutAgents: true });
  const unknown = named.filter((issue) => !isOpen(issue));
  if (unknown.length > 0) throw invalid(unknown.map((issue) => ({ ...issue, path: `/task${issue.path}` })));
};

const linked: readonly string[] = ['network', 'tunnel', 'certificate', 'file', 'dictionary', 'application'];

/** The records that a template uses, so that they cannot be deleted. */
const linkTemplate = (tx: Change, { id, name, task }: Content & { id: number; name: string }) => {
  const used = taskReferences(task as never)
    .filter(({ kind, id }) => linked.includes(kind) && typeof id === 'number')
    .map(({ kind, id }) => ({ kind: kind as Kind, id }));
  return setLinks(tx, { kind: 'template', id, name }, used);
};

type Definition = TaskTemplate['task'];

/** Members of a task besides its definition; a client may send back what it read. */
const dropped = new Set([
  ...['id', 'status', 'error', 'projectID', 'project', 'issuerID', 'issuer', 'lastRunId', 'verdict'],
  ...['scheduleEnabled', 'createdAt', 'updatedAt', 'startedAt', 'finishedAt', 'deletedAt'],
]);

/** The definition in a given task. Unknown members stay and are refused. */
const definitionIn = (task: Definition): Definition =>
  Object.fromEntries(Object.entries(task).filter(([name]) => !dropped.has(name)));

interface Deps {
  store: Store;
  settings: SettingsStore;
}

type NewTemplate = Omit<TemplateDraft, 'task'> & { task?: TemplateDraft['task']; sourceTaskID?: number };

const noun = 'task template';

/** The source of a new template: the request or a task. */
const contentOf = async ({ store }: Deps, body: NewTemplate, caller: Caller) => {
  const { sourceTaskID, task, slots = [], parameters = [] } = body;
  if (sourceTaskID === undefined) return { task: definitionIn(task ?? {}), slots, parameters };
  assertAlone(body);
  assertMayReadTasks(caller);
  const source = await orNotFound(findTask(store.read, sourceTaskID), 'task', sourceTaskID);
  // Thresholds may have been set for an earlier definition of the task.
  const thresholds = source.thresholds.filter((one) => thresholdIssues(source, [one]).length === 0);
  return templateOfTask({ ...source, thresholds }, (id) => findPlugin(id)?.name);
};

const updateTemplate =
  ({ store }: Deps): Handlers<typeof api.taskTemplates>['update'] =>
  ({ body: { id, updatedAt, ...values } }, caller) =>
    store.change(caller, async (tx) => {
      const before = await orNotFound(taskTemplates.find(tx, id), noun, id);
      assertOwn([before]);
      assertFresh(noun, before, updatedAt);
      const { task, slots, parameters } = values;
      const content = {
        task: task ? definitionIn(task) : before.task,
        slots: slots === undefined ? before.slots : (slots ?? []),
        parameters: parameters === undefined ? before.parameters : (parameters ?? []),
      };
      await assertValidTemplate(tx, content);
      await taskTemplates.update(tx, id, { ...values, ...content });
      await linkTemplate(tx, { id, name: values.name ?? before.name, ...content });
    });

export const taskTemplateHandlers = (deps: Deps): Handlers<typeof api.taskTemplates> => {
  const { store, settings } = deps;

  return {
    ...crudHandlers(noun, taskTemplates, store),
    list: async ({ query: { tag, ...query } }) => {
      const request = pageRequestOf(query, 'id');
      const filters = { tag: tag === undefined ? undefined : JSON.stringify([tag]) };
      const { rows, total } = await taskTemplates.page(store.read, { ...request, filters });
      return { cursor: cursorOf(request.limit, request.offset, total), data: rows };
    },
    all: async () => {
      const limit = settings.current().limits.allListMax;
      const request = { key: 'id', order: 'asc', limit, offset: 0, isLight: true } as const;
      const { rows, total } = await taskTemplates.page(store.read, request);
      return { cursor: { count: rows.length, currentPage: 1, totalPages: 1, totalRows: total }, data: rows };
    },
    create: async ({ body }, caller) => {
      const { name, description = '', tags = '' } = body;
      const content = await contentOf(deps, body, caller);
      return store.change(caller, async (tx) => {
        await assertValidTemplate(tx, content);
        const id = await taskTemplates.insert(tx, { name, description, tags, ...content, builtIn: false });
        await linkTemplate(tx, { id, name, ...content });
        return { data: id };
      });
    },
    update: updateTemplate(deps),
    removeMany: ({ body: { array } }, caller) =>
      store.change(caller, async (tx) => {
        assertOwn(await taskTemplates.findMany(tx, array));
        return removed(tx, array);
      }),
  };
};

const removed = async (tx: Change, ids: number[]) => {
  assertAllFound(noun, ids, await taskTemplates.remove(tx, ids));
  await dropLinks(tx, 'template', ids);
  return { data: ids };
};

const assertOwn = (found: readonly StoredTemplate[]) => {
  const ids = found.filter(({ builtIn }) => builtIn).map(({ id }) => id);
  if (ids.length > 0) throw conflict('BUILT_IN', 'built-in templates cannot be changed: copy them instead', { ids });
};

/** A task contains everything itself. */
const assertAlone = (body: NewTemplate) => {
  const issues = (['task', 'slots', 'parameters'] as const)
    .filter((member) => body[member] !== undefined)
    .map((member): Issue => ({ path: `/${member}`, code: 'ONE_SOURCE', message: 'comes from sourceTaskID' }));
  if (issues.length > 0) throw invalid(issues);
};

const assertMayReadTasks = ({ permissions }: Caller) => {
  const permission = 'tasks.read';
  if (!allows(permissions, permission)) {
    throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
  }
};
