import { macs } from '../../../store/assets/macs.ts';
import { statement } from '../../../store/engine/statement.ts';
import type { Travelling } from './travelling.ts';

const byAddress = statement((db, p: { kind: string; address: string }) =>
  db.selectFrom('macs').select('id').where('kind', '=', p.kind).where('address', '=', p.address).orderBy('id'),
);

export const travellingMacs: Travelling<'macs'> = {
  read: async (executor, id) => {
    const found = await macs.find(executor, id);
    if (found === undefined) return undefined;
    const { name, kind, address, count, vendor, description, tags } = found;
    return { mac: { name, kind, address, count, vendor, description, tags } };
  },
  nameOf: ({ mac }) => mac.name,
  references: () => [],
  essenceOf: ({ mac: { kind, address, count } }) => ({ kind, address, count }),
  lookAlikes: async (executor, { mac: { kind = 'address', address } }) =>
    (await byAddress.all(executor, { kind, address })).map(({ id }) => id),
};
