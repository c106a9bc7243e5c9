import { type FoundReference, type Task, type Threshold, taskReferences } from '@rushhour/contract';
import { stepOf, valueAt, withValues } from '../json-pointer.ts';
import type { DependencyKind, Reference } from '../reference.ts';

/** `task.json`: a task without its results. Ids are those of the source controller. */
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
  /** Other tasks, which are never exported. */
  readonly tasks: readonly { path: string; id: number }[];
  /** Values of campaign parameters, keyed by campaign id. */
  readonly campaigns: readonly { path: string; ids: readonly number[] }[];
}

/** Every reference of a task with its position. */
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
  return {
    references: [...references, ...thresholdReferences(task)],
    interfaces,
    tasks,
    campaigns: parametersIn(found),
  };
};

const agentIdOf = ({ agent }: { readonly agent?: unknown }) => Number((agent as { id?: number } | undefined)?.id ?? 0);

const thresholdReferences = ({ thresholds }: PortableTask): Reference[] =>
  thresholds.flatMap(({ scope }, index) =>
    scope?.agentID === undefined
      ? []
      : [{ path: `/thresholds${stepOf(index)}/scope/agentID`, kind: 'agents' as const, id: scope.agentID }],
  );

const parametersIn = (found: readonly FoundReference[]): TaskNeeds['campaigns'] => {
  const ids = new Map<string, number[]>();
  for (const { kind, id, path } of found) {
    if (kind !== 'campaign') continue;
    const pointer = path.replace(/\/campaignIds\/\d+$/, '/parameters');
    ids.set(pointer, [...(ids.get(pointer) ?? []), id]);
  }
  return [...ids].map(([path, named]) => ({ path, ids: named }));
};

/** A copy with the parameters of campaigns keyed by the campaigns' local ids. */
export const withCampaignParameters = (
  task: PortableTask,
  campaigns: TaskNeeds['campaigns'],
  idOf: (reference: Pick<Reference, 'kind' | 'id'>) => number,
): PortableTask =>
  withValues(
    task,
    campaigns.flatMap(({ path, ids }) => {
      const given = valueAt(task, path) as Readonly<Record<string, unknown>> | undefined;
      if (given === undefined) return [];
      const renamed = Object.entries(given).map(([key, values]) => {
        const id = ids.find((known) => String(known) === key);
        return [id === undefined ? key : String(idOf({ kind: 'compromisedHostCampaigns', id })), values] as const;
      });
      return [[path, Object.fromEntries(renamed)] as const];
    }),
  );
