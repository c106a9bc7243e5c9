import type { TaskTemplate } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { findMarkers, type Marker, withMarkersFilled } from './markers.ts';
import { issuesOfValue, type ParameterValue } from './parameter-value.ts';

type Template = Pick<TaskTemplate, 'task' | 'slots' | 'parameters'>;

/** The input of a template's user. */
export interface Filling {
  readonly agentMap: Readonly<Record<string, number>>;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

/** The task made from a template, or all issues of the given values. */
export const fillTemplate = (template: Template, { agentMap, parameters }: Filling) => {
  const issues = [...issuesOfAgents(template, agentMap), ...issuesOfParameters(template, parameters)];
  const defaults = Object.fromEntries(template.parameters.map(({ name, default: value }) => [name, value]));
  const task = withMarkersFilled(template.task, ({ kind, name }) =>
    kind === 'slot' ? own(agentMap, name) : (own(parameters, name) ?? own(defaults, name)),
  );
  return { task, issues };
};

const own = <T>(members: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

const unknownIn = (given: object, declared: readonly { name: string }[], path: string, code: string): Issue[] =>
  Object.keys(given)
    .filter((name) => !declared.some((known) => known.name === name))
    .map((name) => ({ path: `${path}/${name}`, code, message: 'is not known to this template' }));

const issuesOfAgents = ({ slots }: Template, agentMap: Filling['agentMap']): Issue[] => [
  ...unknownIn(agentMap, slots, '/agentMap', 'UNKNOWN_SLOT'),
  ...slots
    .filter(({ name }) => own(agentMap, name) === undefined)
    .map(({ name }) => ({ path: `/agentMap/${name}`, code: 'SLOT_UNFILLED', message: 'needs an agent' })),
];

const issuesOfParameters = (template: Template, given: Filling['parameters']): Issue[] => [
  ...unknownIn(given, template.parameters, '/parameters', 'UNKNOWN_PARAMETER'),
  ...template.parameters.flatMap((parameter): Issue[] => {
    const path = `/parameters/${parameter.name}`;
    const value = own(given, parameter.name);
    if (value !== undefined) return issuesOfValue(parameter, value, path);
    if (parameter.default !== undefined) return [];
    return [{ path, code: 'PARAMETER_UNFILLED', message: 'has no default and needs a value' }];
  }),
];

const memberOf = ({ kind, name }: Marker) => `/${kind === 'slot' ? 'agentMap' : 'parameters'}/${name}`;

/** Issues of the filled task as issues of the request: at the user's value or at the template. */
export const requestIssues = ({ task }: Template, issues: readonly Issue[]): Issue[] => {
  const { markers } = findMarkers(task);
  return issues.map((issue) => {
    const marker = markers.find(({ path }) => issue.path === path || issue.path.startsWith(`${path}/`));
    if (marker) return { ...issue, path: memberOf(marker) };
    return { ...issue, path: '/templateID', message: `the template's ${issue.path || 'task'} ${issue.message}` };
  });
};
