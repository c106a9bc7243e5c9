import type { AccessPlaneEntry, ConfigurationEntry, ControlPlaneEntry } from '../../collections/tasks/task.ts';
import { accessProfiles, controlProfiles } from '../protocols/profiles.ts';
import { entriesOf } from './entries.ts';
import { type FoundReference, referencesIn } from './members/references.ts';

interface TaskParts {
  readonly configuration?: readonly ConfigurationEntry[] | null | undefined;
  readonly accessPlane?: readonly AccessPlaneEntry[] | null | undefined;
  readonly controlPlane?: readonly ControlPlaneEntry[] | null | undefined;
}

type PlaneEntry = AccessPlaneEntry | ControlPlaneEntry;

const planeReferences = (entry: PlaneEntry, path: string, protocols: readonly string[]): FoundReference[] => {
  const beside = entry as Readonly<Record<string, unknown>>;
  const found = (kind: 'agent' | 'interface' | 'dictionary', id: number, pointer: string): FoundReference => ({
    kind,
    id,
    path: `${path}/${pointer}`,
    beside,
  });
  const interfaces = (entry.interfaces ?? []).flatMap((given, i) =>
    Array.isArray(given)
      ? given.map((id, j) => found('interface', id, `interfaces/${i}/${j}`))
      : [found('interface', given, `interfaces/${i}`)],
  );
  const dictionaries = protocols.flatMap((protocol) =>
    ((beside[protocol] as number[] | undefined) ?? []).map((id, i) => ({
      ...found('dictionary', id, `${protocol}/${i}`),
      protocol,
    })),
  );
  return [found('agent', entry.agent.id, 'agent/id'), ...interfaces, ...dictionaries];
};

const accessProtocols = Object.keys(accessProfiles);
const controlProtocols = Object.keys(controlProfiles);

/** Every record a task refers to, with the JSON pointer of the reference. */
export const taskReferences = ({ configuration, accessPlane, controlPlane }: TaskParts): FoundReference[] => [
  ...entriesOf(configuration ?? []).flatMap(({ plugin, values, path }) =>
    plugin === undefined ? [] : referencesIn(plugin.schema, values, `${path}/values`),
  ),
  ...(accessPlane ?? []).flatMap((entry, i) => planeReferences(entry, `/accessPlane/${i}`, accessProtocols)),
  ...(controlPlane ?? []).flatMap((entry, i) => planeReferences(entry, `/controlPlane/${i}`, controlProtocols)),
];
