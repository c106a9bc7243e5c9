import type { Permission } from '@rushhour/contract';
import type { Caller } from '../caller.ts';
import { forbidden } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { allows } from './permissions.ts';

/** Refuses a caller without a permission that only some requests of an operation need; the refusal is audited. */
export const assertPermission = async (store: Store, permission: Permission, caller: Caller) => {
  if (allows(caller.permissions, permission)) return;
  await store.change(caller, async (tx) => tx.deny({ permission }));
  throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
};
