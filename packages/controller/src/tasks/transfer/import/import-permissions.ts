import type { Permission } from '@rushhour/contract';
import type { Caller } from '../../../caller.ts';
import { forbidden } from '../../../errors.ts';
import { allows } from '../../../people/permissions.ts';
import type { Store } from '../../../store/store.ts';
import type { NewKind } from './record-importers.ts';

const needed: Readonly<Record<NewKind, Permission>> = {
  applications: 'applications.write',
  certificates: 'certificates.write',
  compromisedHostCampaigns: 'compromisedHost.execute',
  cveSignatures: 'cve.write',
  dictionaries: 'dictionaries.write',
  files: 'files.write',
  macs: 'macs.write',
  networks: 'networks.write',
  tunnels: 'tunnels.write',
};

/** An import needs the same permissions as creating the records by hand. */
export const lackingPermissions = (
  kinds: Iterable<string>,
  { permissions }: Pick<Caller, 'permissions'>,
): Permission[] =>
  [...new Set(kinds)]
    .flatMap((kind) => (Object.hasOwn(needed, kind) ? [needed[kind as NewKind]] : []))
    .filter((permission) => !allows(permissions, permission))
    .sort();

export const assertMayMake = async (store: Store, kinds: Iterable<string>, caller: Caller) => {
  const lacking = lackingPermissions(kinds, caller);
  const [permission] = lacking;
  if (permission === undefined) return;
  await store.change(originOf(caller), async (tx) => tx.deny({ permissions: lacking }));
  throw forbidden('FORBIDDEN', `this needs the permission ${lacking.join(' and ')}`, {
    permission,
    permissions: lacking,
  });
};

/** Without the idempotency key of the request: a refusal must not be replayed as its answer. */
const originOf = ({ userId, address, requestId, operation }: Caller) => ({ userId, address, requestId, operation });
