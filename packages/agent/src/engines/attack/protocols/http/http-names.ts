import { isIP } from 'node:net';
import type { HttpExchange } from '@rushhour/protocol';
import type { AttackRoute } from '../../driver.ts';

/** Authority of a route. */
export const hostOf = ({ host, port, isTls }: AttackRoute): string => {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
};

/** Host header of a step. */
export const hostIn = ({ request: { headers } }: HttpExchange['steps'][number]): string | undefined =>
  headers.find(({ name }) => name.trim().toLowerCase() === 'host')?.value.trim();

/** Server name for TLS of a Host header. */
export const serverNamed = (host = ''): Pick<AttackRoute, 'serverName'> => {
  const name = host.replace(/:\d+$/, '');
  return /^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name) && isIP(name) === 0 ? { serverName: name } : {};
};
