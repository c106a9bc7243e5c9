import type { AiKey } from '@rushhour/contract';
import { routeOf } from '../../components/resource/resource.ts';
import { type ObjectSchema, type Schema, writableOf } from '../../components/schema-form/schema.ts';

const members = ['name', 'scopes', 'policy', 'constraints', 'limits', 'ipAllowlist', 'expiresAt'] as const;

const references: Readonly<Record<string, string>> = { agentIDs: 'agent', projectIDs: 'project' };

/** Marks ids as references, so that the form selects records by name. */
const withReferences = (schema: Schema): Schema => ({
  ...schema,
  default: {},
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, member]) => {
      const kind = references[name];
      return [name, kind === undefined ? member : { ...member, items: { ...member.items, 'x-reference': kind } }];
    }),
  ),
});

/** The schema of the key form. */
export const keySchema = (): ObjectSchema => {
  const schema = writableOf(routeOf('aiAdmin', 'createKey')?.body as unknown as ObjectSchema, members);
  const grouped = ['policy', 'constraints', 'limits'].map((name) => [
    name,
    withReferences(schema.properties[name] ?? {}),
  ]);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(grouped) } };
};

/** The form value of a stored key. */
export const keyValue = (key: AiKey): Record<string, unknown> => {
  const { version: _, ...policy } = key.policy;
  return Object.fromEntries(members.map((name) => [name, name === 'policy' ? policy : key[name]]));
};

export type KeyState = 'active' | 'disabled' | 'revoked' | 'expired';

export const keyStateOf = ({ revokedAt, expiresAt, isActive }: AiKey, now = Date.now()): KeyState => {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(expiresAt) <= now) return 'expired';
  return isActive ? 'active' : 'disabled';
};
