import { secretMask, type TunnelType, tunnelSecretsOf } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Secrets } from '../engine/secrets.ts';
import { createTable } from '../engine/table.ts';

export const tunnels = createTable('tunnels', {
  search: ['name', 'description', 'clientIp', 'serverIp', 'endpoints', 'tags'],
  filters: { type: (type: string) => sql`${sql.ref('t.type')} = ${type}` },
});

export type StoredTunnel = NonNullable<Awaited<ReturnType<typeof tunnels.find>>>;

export type TunnelParams = StoredTunnel['params'];

/** The columns of `params`: what may be read, with masks, and the secrets sealed together. */
export const sealParams = (type: TunnelType, id: number, params: TunnelParams, secrets: Secrets) => {
  const names = tunnelSecretsOf(type).filter((name) => name in params);
  const hidden = Object.fromEntries(names.map((name) => [name, params[name]]));
  const masks = Object.fromEntries(names.map((name) => [name, secretMask]));
  return {
    params: { ...params, ...masks },
    secrets: names.length === 0 ? '' : secrets.seal(JSON.stringify(hidden), locationOf(id)),
  };
};

/** The inverse of `sealParams`. The result is for agents only. */
export const openParams = ({ id, params, secrets: sealed }: StoredTunnel, secrets: Secrets): TunnelParams =>
  sealed === '' ? params : { ...params, ...(JSON.parse(secrets.open(sealed, locationOf(id))) as TunnelParams) };

const locationOf = (id: number) => ({ table: 'tunnels', id, column: 'secrets' });
