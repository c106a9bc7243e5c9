import { type ConfigurationEntry, type SecretSlot, secretMask, secretSlotsIn } from '@rushhour/contract';
import type { Secrets } from '../engine/secrets.ts';

type Configuration = readonly ConfigurationEntry[];

/** The record whose configuration holds the secrets. */
export interface Owner {
  readonly table: 'tasks' | 'runs';
  readonly id: number;
}

interface SecretText extends SecretSlot {
  readonly text: string;
}

/** Every secret of a configuration, masks included. */
const secretTextsIn = (configuration: Configuration): SecretText[] =>
  secretSlotsIn(configuration).flatMap((slot) => {
    const text = slot.holder[slot.member];
    return typeof text === 'string' && (text !== '' || slot.member !== 'value') ? [{ ...slot, text }] : [];
  });

const columns = { tasks: 'configurationSecrets', runs: 'definitionSecrets' } as const;

const locationOf = ({ table, id }: Owner, path: string) => ({ table, id, column: `${columns[table]}${path}` });

/**
 * What is stored of a configuration: masks where secrets stood, and the secrets sealed by JSON pointer. Secrets in
 * `sealed` are masks already and stay as they are.
 */
export const sealConfiguration = (
  configuration: Configuration,
  secrets: Secrets,
  { sealed = {}, ...owner }: Owner & { readonly sealed?: Readonly<Record<string, string>> },
) => {
  const masked = structuredClone(configuration) as ConfigurationEntry[];
  const configurationSecrets: Record<string, string> = { ...sealed };
  for (const { path, holder, member, text } of secretTextsIn(masked)) {
    if (Object.hasOwn(sealed, path)) continue;
    configurationSecrets[path] = secrets.seal(text, locationOf(owner, path));
    holder[member] = secretMask;
  }
  return { configuration: masked, configurationSecrets };
};

/** A copy with a mask for every secret, for definitions that may hold some in clear. */
export const maskConfiguration = (configuration: Configuration): ConfigurationEntry[] => {
  const masked = structuredClone(configuration) as ConfigurationEntry[];
  for (const { holder, member, text } of secretTextsIn(masked)) if (text !== '') holder[member] = secretMask;
  return masked;
};

/** The inverse of `sealConfiguration`. The result is for agents only. */
export const openConfiguration = (
  configuration: Configuration,
  sealed: Readonly<Record<string, string>>,
  secrets: Secrets,
  owner: Owner,
): ConfigurationEntry[] => {
  const opened = structuredClone(configuration) as ConfigurationEntry[];
  for (const { path, holder, member } of secretTextsIn(opened)) {
    const value = sealed[path];
    if (value !== undefined) holder[member] = secrets.open(value, locationOf(owner, path));
  }
  return opened;
};

/** Secrets in clear by JSON pointer: for runs, which seal them anew. */
export const openSecrets = (sealed: Readonly<Record<string, string>>, secrets: Secrets, owner: Owner) =>
  Object.fromEntries(
    Object.entries(sealed).map(([path, value]) => [path, secrets.open(value, locationOf(owner, path))]),
  );

/** The given configuration with its masks replaced by the same secrets of `stored`; masks without one stay. */
export const unmaskConfiguration = (configuration: Configuration, stored: Configuration): ConfigurationEntry[] => {
  const known = new Map(secretTextsIn(stored).map(({ identity, text }) => [identity, text]));
  const unmasked = structuredClone(configuration) as ConfigurationEntry[];
  for (const { identity, holder, member, text } of secretTextsIn(unmasked)) {
    if (text === secretMask) holder[member] = known.get(identity) ?? secretMask;
  }
  return unmasked;
};
