import { type ConfigurationEntry, entriesOf, secretMask, secretValues } from '@rushhour/contract';
import type { Secrets } from '../engine/secrets.ts';

type Configuration = readonly ConfigurationEntry[];
type Values = Record<string, unknown>;

/** The record whose configuration holds the secrets. */
export interface Owner {
  readonly table: 'tasks';
  readonly id: number;
}

interface SecretMember {
  /** JSON pointer into the task. */
  readonly path: string;
  readonly values: Values;
  readonly name: string;
}

/** Every place of a configuration where a secret stands, those inside suites too. */
const secretMembersIn = (configuration: Configuration): SecretMember[] =>
  entriesOf(configuration).flatMap(({ path, values }) =>
    secretValues
      .filter((name) => typeof values[name] === 'string')
      .map((name) => ({ path: `${path}/values/${name}`, values: values as Values, name })),
  );

const locationOf = ({ table, id }: Owner, path: string) => ({ table, id, column: `configurationSecrets${path}` });

/** What is stored of a configuration: masks where secrets stood, and the secrets sealed by JSON pointer. */
export const sealConfiguration = (configuration: Configuration, secrets: Secrets, owner: Owner) => {
  const masked = structuredClone(configuration) as ConfigurationEntry[];
  const configurationSecrets: Record<string, string> = {};
  for (const { path, values, name } of secretMembersIn(masked)) {
    configurationSecrets[path] = secrets.seal(String(values[name]), locationOf(owner, path));
    values[name] = secretMask;
  }
  return { configuration: masked, configurationSecrets };
};

/** The inverse of `sealConfiguration`. The result is for agents only. */
export const openConfiguration = (
  configuration: Configuration,
  sealed: Readonly<Record<string, string>>,
  secrets: Secrets,
  owner: Owner,
): ConfigurationEntry[] => {
  const opened = structuredClone(configuration) as ConfigurationEntry[];
  for (const { path, values, name } of secretMembersIn(opened)) {
    const value = sealed[path];
    if (value !== undefined) values[name] = secrets.open(value, locationOf(owner, path));
  }
  return opened;
};

/** Secrets in clear by JSON pointer: for runs, which seal them anew. */
export const openSecrets = (sealed: Readonly<Record<string, string>>, secrets: Secrets, owner: Owner) =>
  Object.fromEntries(
    Object.entries(sealed).map(([path, value]) => [path, secrets.open(value, locationOf(owner, path))]),
  );

/** The given configuration with its masks replaced by what stands in the same place of `stored`; others stay. */
export const unmaskConfiguration = (configuration: Configuration, stored: Configuration): ConfigurationEntry[] => {
  const known = new Map(secretMembersIn(stored).map(({ path, values, name }) => [path, values[name]]));
  const unmasked = structuredClone(configuration) as ConfigurationEntry[];
  for (const { path, values, name } of secretMembersIn(unmasked)) {
    if (values[name] === secretMask && known.has(path)) values[name] = known.get(path);
  }
  return unmasked;
};
