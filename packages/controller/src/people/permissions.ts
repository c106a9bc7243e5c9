import { type Permission, permissions } from '@rushhour/contract';

const admin = permissions['system.admin'];

/** Whether a holder of these integers has the permission. The administrator permission implies every other. */
export const allows = (held: ReadonlySet<number>, permission: Permission) =>
  held.has(permissions[permission]) || held.has(admin);

/** The effective integers: all of them for an administrator. */
export const effective = (held: ReadonlySet<number>): number[] =>
  held.has(admin) ? Object.values(permissions) : [...held];

export const isAdmin = (held: Iterable<number>) => [...held].includes(admin);
