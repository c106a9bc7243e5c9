import type { TaskTemplate, TemplateParameter } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { findMarkers, type Marker, withMarkersFilled } from './markers.ts';
import { isNumeric, issuesOfValue, sampleOf } from './parameter-value.ts';
import { secretsIn } from './secrets-in.ts';

type Template = Pick<TaskTemplate, 'task' | 'slots' | 'parameters'>;

/** All issues of a task definition that can be found without the database. */
export type TaskCheck = (definition: Record<string, unknown>) => Issue[];

/** All issues of a template; `issuesOfTask` checks the resulting task. */
export const issuesOfTemplate = (template: Template, issuesOfTask: TaskCheck): Issue[] => {
  const { markers, issues } = findMarkers(template.task);
  return [
    ...issues.map(inTask),
    ...markers.flatMap(misplaced).map(inTask),
    ...secretsIn(template.task).map(({ path }) => inTask({ path, ...noSecrets })),
    ...declarationIssues(template.slots, markers, 'slot'),
    ...declarationIssues(template.parameters, markers, 'param'),
    ...template.parameters.flatMap(issuesOfParameter),
    ...(issues.length > 0 ? [] : trialIssues(template, issuesOfTask)),
  ];
};

const inTask = (issue: Issue): Issue => ({ ...issue, path: `/task${issue.path}` });

const noSecrets = {
  code: 'SECRET_IN_TEMPLATE',
  message: 'a template holds no secrets: put a parameter without default here',
};

/** Agents come only from slots, and slots stand only for agents. */
const misplaced = ({ path, kind }: Marker): Issue[] => {
  const isAgent = path.endsWith('/agent/id') || path.endsWith('/scope/agentID');
  if (kind === 'slot' && !isAgent)
    return [{ path, code: 'SLOT_MISPLACED', message: 'a slot stands for agent.id and scope.agentID only' }];
  if (kind === 'param' && isAgent)
    return [{ path, code: 'PARAMETER_MISPLACED', message: 'an agent comes from a slot' }];
  return [];
};

const words = {
  slot: { list: '/slots', what: 'slot', code: 'SLOT' },
  param: { list: '/parameters', what: 'parameter', code: 'PARAMETER' },
};

/** Parameters are declared once and used, and used ones are declared. */
const declarationIssues = (
  declared: readonly { name: string }[],
  markers: readonly Marker[],
  kind: Marker['kind'],
): Issue[] => {
  const { list, what, code } = words[kind];
  const used = markers.filter((marker) => marker.kind === kind);
  const names = declared.map(({ name }) => name);
  return [
    ...used
      .filter(({ name }) => !names.includes(name))
      .map(({ path, name }) =>
        inTask({ path, code: `${code}_UNDECLARED`, message: `there is no ${what} "${name}" in ${list}` }),
      ),
    ...names.flatMap((name, index): Issue[] => {
      const path = `${list}/${index}/name`;
      if (names.indexOf(name) < index)
        return [{ path, code: 'DUPLICATE_NAME', message: `two have the name "${name}"` }];
      if (used.some((marker) => marker.name === name)) return [];
      return [{ path, code: `${code}_UNUSED`, message: 'is not used in the task' }];
    }),
  ];
};

const issuesOfParameter = (parameter: TemplateParameter, index: number): Issue[] => {
  const { min, max, default: value } = parameter;
  const path = `/parameters/${index}`;
  const bounds = (['min', 'max'] as const)
    .filter((bound) => parameter[bound] !== undefined && !isNumeric(parameter))
    .map((bound) => ({ path: `${path}/${bound}`, code: 'BOUND_UNEXPECTED', message: 'only numbers have bounds' }));
  if (bounds.length > 0) return bounds;
  if (min !== undefined && max !== undefined && min > max) {
    return [{ path: `${path}/min`, code: 'BOUNDS_CROSSED', message: `is above max, which is ${max}` }];
  }
  return value === undefined ? [] : issuesOfValue(parameter, value, `${path}/default`);
};

/** The task with all defaults. Markers without a default stay open. */
export const trialOf = ({ task, parameters }: Template) => {
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const trial = withMarkersFilled(task, ({ kind, name }) => {
    const parameter = byName.get(name);
    return kind === 'slot' || parameter === undefined ? 1 : sampleOf(parameter);
  });
  const open = findMarkers(task).markers.filter(
    ({ kind, name }) => kind === 'slot' || byName.get(name)?.default === undefined,
  );
  const isOpen = ({ path }: Issue) => open.some((secret) => path === secret.path || path.startsWith(`${secret.path}/`));
  return { task: trial, isOpen };
};

const trialIssues = (template: Template, issuesOfTask: TaskCheck): Issue[] => {
  const { task, isOpen } = trialOf(template);
  return issuesOfTask(task)
    .filter((issue) => !isOpen(issue))
    .map(inTask);
};
