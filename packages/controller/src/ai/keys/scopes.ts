import type { AiOperation, AiScope, Permission, ResourceKind } from '@rushhour/contract';
import type { AiKeyFacts } from '../../caller.ts';
import { forbidden } from '../../errors.ts';
import { allows } from '../../people/permissions.ts';

/** The permissions the owner needs for a key to use a scope. */
const needs: Record<AiScope, readonly Permission[]> = {
  'state:read': ['agents.read', 'tasks.read'],
  'agents:read': ['agents.read'],
  'resources:read': [],
  'tasks:read': ['tasks.read'],
  'results:read': ['tasks.read'],
  'drafts:write': ['tasks.write'],
  'tasks:create': ['tasks.write'],
  'tasks:start': ['tasks.execute'],
  'tasks:control': ['tasks.execute'],
  'tasks:delete': ['tasks.write'],
  'audit:read': [],
};

/** Each kind of resource has its own permission. */
export const permissionOfKind: Record<ResourceKind, Permission> = {
  network: 'networks.read',
  application: 'applications.read',
  file: 'files.read',
  certificate: 'certificates.read',
  tunnel: 'tunnels.read',
  mac: 'macs.read',
  dictionary: 'dictionaries.read',
  template: 'taskTemplates.read',
  project: 'projects.read',
  cve: 'cve.read',
  malware: 'malware.read',
  campaign: 'compromisedHost.read',
};

/** The scopes that someone with these permissions can use. */
export const coveredScopes = (scopes: readonly AiScope[], held: ReadonlySet<number>): AiScope[] =>
  scopes.filter((scope) => needs[scope].every((permission) => allows(held, permission)));

export const assertScope = ({ effectiveScopes }: AiKeyFacts, scope: AiScope) => {
  if (!effectiveScopes.has(scope)) throw forbidden('AI_SCOPE_MISSING', `this needs the scope ${scope}`, { scope });
};

export const isOpenTo = ({ effectiveScopes }: AiKeyFacts, { scope, orScope }: AiOperation) =>
  scope === 'any' || effectiveScopes.has(scope) || (orScope !== undefined && effectiveScopes.has(orScope));

/** Refuses calls without one of the operation's scopes. */
export const assertOperation = (key: AiKeyFacts, { scope, orScope }: AiOperation) => {
  if (scope === 'any' || (orScope !== undefined && key.effectiveScopes.has(orScope))) return;
  assertScope(key, scope);
};
