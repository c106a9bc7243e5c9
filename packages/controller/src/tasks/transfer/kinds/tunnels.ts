import { tunnelSecretsOf } from '@rushhour/contract';
import { tunnels } from '../../../store/assets/tunnels.ts';
import { statement } from '../../../store/engine/statement.ts';
import type { Travelling } from './travelling.ts';

const byEnds = statement((db, p: { type: string; clientIp: string; serverIp: string; endpoints: string }) =>
  db
    .selectFrom('tunnels')
    .select('id')
    .where('type', '=', p.type)
    .where('clientIp', '=', p.clientIp)
    .where('serverIp', '=', p.serverIp)
    .where('endpoints', '=', p.endpoints)
    .orderBy('id'),
);

export const travellingTunnels: Travelling<'tunnels'> = {
  read: async (executor, id) => {
    const found = await tunnels.find(executor, id);
    if (found === undefined) return undefined;
    const { name, type, description, clientIp, serverIp, endpoints, count, mtu, certificateID, tags } = found;
    const hidden = tunnelSecretsOf(type);
    const params = Object.fromEntries(Object.entries(found.params).filter(([member]) => !hidden.includes(member)));
    const ends = { clientIp, serverIp, endpoints };
    const secretSet = found.secrets !== '';
    return { tunnel: { name, type, description, ...ends, count, mtu, params, certificateID, tags, secretSet } };
  },
  nameOf: ({ tunnel }) => tunnel.name,
  references: ({ tunnel: { certificateID } }) =>
    certificateID ? [{ path: '/tunnel/certificateID', kind: 'certificates', id: certificateID }] : [],
  essenceOf: ({ tunnel: { name: _, description: __, tags: ___, secretSet: ____, ...tunnel } }) => tunnel,
  lookAlikes: async (executor, { tunnel: { type, clientIp = '', serverIp = '', endpoints = '' } }) =>
    (await byEnds.all(executor, { type, clientIp, serverIp, endpoints })).map(({ id }) => id),
};
