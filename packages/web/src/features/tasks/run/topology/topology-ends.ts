import { entriesOf, type Task } from '@rushhour/contract';

export type Ends = 'sources' | 'targets';
type Configuration = Pick<Task, 'configuration'>;

interface Endpoint {
  readonly agent?: { readonly id?: number };
  readonly network?: { readonly id?: number };
  readonly ip?: string;
  readonly ports?: string;
}

interface Values extends Partial<Record<Ends, readonly Endpoint[]>> {
  readonly tunnelID?: number;
  readonly tunnelIDs?: readonly number[];
}

const valuesOf = ({ configuration }: Configuration): Values[] =>
  entriesOf(configuration).map(({ values }) => (values ?? {}) as Values);

const endpointsOf = (task: Configuration, ends: Ends) => valuesOf(task).flatMap((values) => values[ends] ?? []);

/** Agents or networks that the entries of a task name on one side. */
export const idsOf = (task: Configuration, ends: Ends, kind: 'agent' | 'network'): number[] => [
  ...new Set(endpointsOf(task, ends).flatMap((endpoint) => endpoint[kind]?.id ?? [])),
];

/** The addresses that the entries of a task name on one side, with ports where they listen. */
export const addressesOf = (task: Configuration, ends: Ends): string[] => [
  ...new Set(
    endpointsOf(task, ends).flatMap(({ ip = '', ports = '' }) => {
      if (ip === '') return [];
      if (ends === 'sources' || ports === '') return [ip];
      return [`${ip.includes(':') ? `[${ip}]` : ip}:${ports}`];
    }),
  ),
];

/** The tunnels that carry the traffic of a task. */
export const tunnelIdsOf = (task: Configuration): number[] => [
  ...new Set(
    valuesOf(task).flatMap(({ tunnelID, tunnelIDs = [] }) =>
      tunnelID === undefined ? tunnelIDs : [...tunnelIDs, tunnelID],
    ),
  ),
];
