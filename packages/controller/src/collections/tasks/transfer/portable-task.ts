import { type Task, type Threshold, taskReferences } from '@rushhour/contract';
import { stepOf, valueAt } from './json-pointer.ts';
import type { DependencyKind, Reference } from './reference.ts';

/** `task.json`: what a task is, without what became of it. Ids are those of the controller it comes from. */
export interface PortableTask
  extends Pick<Task, 'comment' | 'accessPlane' | 'controlPlane' | 'configuration' | 'dumps'> {
  readonly thresholds: Threshold[];
}

const kindOf = {
  agent: 'agents',
  network: 'networks',
  tunnel: 'tunnels',
  certificate: 'certificates',
  file: 'files',
  dictionary: 'dictionaries',
  application: 'applications',
  signature: 'cveSignatures',
  campaign: 'compromisedHostCampaigns',
} as const satisfies Record<string, DependencyKind>;

/** An interface of an agent; its id means something only there. */
export interface InterfaceUse {
  readonly path: string;
  readonly id: number;
  readonly agentId: number;
}

export interface TaskNeeds {
  readonly references: readonly Reference[];
  readonly interfaces: readonly InterfaceUse[];
  /** Other tasks, which never travel along. */
  readonly tasks: readonly { path: string; id: number }[];
}

/** Everything that a task names, with the places where it does. */
export const needsOf = (task: PortableTask): TaskNeeds => {
  const found = taskReferences(task);
  const references = found.flatMap(({ kind, id, path }): Reference[] => {
    if (kind === 'interface' || kind === 'task') return [];
    const isText = typeof valueAt(task, path) === 'string';
    return [{ path, kind: kindOf[kind], id, ...(isText && { write: String }) }];
  });
  const interfaces = found
    .filter(({ kind }) => kind === 'interface')
    .map(({ path, id, beside }) => ({ path, id, agentId: agentIdOf(beside) }));
  const tasks = found.filter(({ kind }) => kind === 'task').map(({ path, id }) => ({ path, id }));
  return { references: [...references, ...thresholdReferences(task)], interfaces, tasks };
};

const agentIdOf = ({ agent }: { readonly agent?: unknown }) => Number((agent as { id?: number } | undefined)?.id ?? 0);

const thresholdReferences = ({ thresholds }: PortableTask): Reference[] =>
  thresholds.flatMap(({ scope }, index) =>
    scope?.agentID === undefined
      ? []
      : [{ path: `/thresholds${stepOf(index)}/scope/agentID`, kind: 'agents' as const, id: scope.agentID }],
  );
