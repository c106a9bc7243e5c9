import type { Client } from '@rushhour/client/routes';
import { UsageError } from '../exit-codes.ts';

/** Records that a task file names instead of numbering; the ids of another controller differ. */
export const namedKinds = [
  'agent',
  'network',
  'tunnel',
  'certificate',
  'file',
  'dictionary',
  'application',
  'signature',
  'campaign',
  'interface',
] as const;
export type NamedKind = (typeof namedKinds)[number] | 'plugin' | 'project';

interface Named {
  readonly id: number;
  readonly name: string;
}

type Light = { readonly id?: number; readonly ID?: number; readonly name?: string; readonly title?: string };

const toNamed = ({ data }: { data: readonly unknown[] }): Named[] =>
  (data as readonly Light[]).map(({ id, ID, name, title }) => ({ id: id ?? ID ?? 0, name: name ?? title ?? '' }));

/** Interfaces of all agents, as `edge-1/eth1`. */
const readInterfaces = async (client: Client) => {
  const { data: agents } = await client.agents.all();
  const named = agents.map(async ({ id, name }) => {
    const { data } = await client.agents.interfaces({ params: { id } });
    return data.map((one) => ({ id: one.id, name: `${name}/${one.name}` }));
  });
  return { data: (await Promise.all(named)).flat() };
};

const readers: Readonly<Record<NamedKind, (client: Client) => Promise<{ data: readonly unknown[] }>>> = {
  agent: (client) => client.agents.all(),
  network: (client) => client.networks.all(),
  tunnel: (client) => client.tunnels.all(),
  certificate: (client) => client.certificates.all(),
  file: (client) => client.files.all(),
  dictionary: (client) => client.dictionaries.all(),
  application: (client) => client.applications.all(),
  signature: (client) => client.cve.all(),
  campaign: (client) => client.compromisedHost.list({ query: { count: 100 } as never }),
  interface: readInterfaces,
  plugin: (client) => client.tasks.plugins(),
  project: (client) => client.projects.list({ query: { count: 100 } as never }),
};

/** Ids by name and names by id, read from the controller when first asked for. */
export interface RecordNames {
  /** Throws when no record, or more than one, has the name. Digits are taken as an id. */
  idOf(kind: NamedKind, name: string): Promise<number>;
  /** Undefined when the id is unknown or its name is not unique. */
  findName(kind: NamedKind, id: number): Promise<string | undefined>;
}

export const recordNames = (client: Client): RecordNames => {
  const read = new Map<NamedKind, Promise<Named[]>>();
  const all = (kind: NamedKind) => {
    const found = read.get(kind) ?? readers[kind](client).then(toNamed);
    read.set(kind, found);
    return found;
  };
  return {
    idOf: async (kind, name) => {
      const records = await all(kind);
      const found = records.filter((record) => record.name === name);
      const [first] = found;
      if (first !== undefined && found.length === 1) return first.id;
      if (found.length === 0 && /^\d+$/.test(name)) return Number(name);
      const known = records.map((record) => record.name).slice(0, 20);
      throw new UsageError(
        found.length > 1
          ? `there are ${found.length} records of kind ${kind} with the name "${name}": give the id`
          : `there is no ${kind} "${name}"; there are: ${known.join(', ') || 'none'}`,
      );
    },
    findName: async (kind, id) => {
      const records = await all(kind);
      const name = records.find((record) => record.id === id)?.name;
      return name !== undefined && records.filter((record) => record.name === name).length === 1 ? name : undefined;
    },
  };
};
