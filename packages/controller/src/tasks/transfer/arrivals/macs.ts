import { macs } from '../../../store/assets/macs.ts';
import { at } from '../at-place.ts';
import type { Prepare } from './arrival.ts';

export const prepareMac: Prepare<'macs'> = async ({ mac }, { rules }) => {
  const columns = await at('/mac', () => rules.mac(mac));
  const { description = '', tags = '' } = mac;
  return (tx, name) => macs.insert(tx, { description, tags, ...columns, name });
};
