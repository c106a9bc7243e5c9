import { type ProtocolConfig, type ProtocolName, protocolProfiles } from '@rushhour/contract';

type Part<T> = { [Name in keyof T]?: T[Name] extends readonly unknown[] ? T[Name] : Part<T[Name]> };

interface Schema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const withDefaults = (schema: Schema, value: unknown): unknown => {
  if (schema.properties === undefined) return value ?? schema.default;
  const given = (value ?? {}) as Record<string, unknown>;
  const members = Object.entries(schema.properties).map(([name, part]) => [name, withDefaults(part, given[name])]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
};

/** A profile with defaults, as the controller gives it to an agent. */
export const profile = <Name extends ProtocolName>(name: Name, config: Part<ProtocolConfig<Name>> = {}) => [
  withDefaults(protocolProfiles[name] as Schema, config) as ProtocolConfig<Name>,
];

/** Many sessions at once that ask again quickly. */
export const sessionsProfile = (count: number, more: Part<ProtocolConfig<'sessions'>> = {}) =>
  profile('sessions', {
    ...more,
    load: { count, startPerSec: 1000, stopPerSec: 10_000, ...more.load },
    traffic: { ipv4PacketsPerSec: 0, ...more.traffic },
  });

/** The configuration of the engine for one entry. */
export const accessJob = (role: 'client' | 'server', device: string, profiles: Record<string, unknown[]>) => ({
  engine: 'plane.access',
  config: { role, groupId: 1, entry: 0, roleName: '', interfaces: [device], profiles },
});
