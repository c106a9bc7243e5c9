import { Type } from 'typebox';
import { optional } from '../../../schema.ts';
import { choice, section } from '../../protocols/field.ts';
import { ignoredAll, item, listOf, optionalInteger } from './values.ts';

const whole = (description: string, range: readonly [number, number]) => optionalInteger(description, range);

const version = Type.Optional(
  Type.Unsafe<4 | 6>({
    type: 'integer',
    enum: [4, 6],
    description: 'Version of the addresses to use where an agent or a network has both',
  }),
);

const srcMode = choice('How source addresses are taken from the networks of `sources`', [
  'sequential',
  'random',
  'fixed',
]);

const header = {
  ttl: whole('Time to live or hop limit', [1, 255]),
  dscp: whole('Differentiated services code point', [0, 63]),
  ecn: whole('Explicit congestion notification bits', [0, 3]),
  df: optional.flag('Forbids fragmentation'),
  fragmentSize: whole('Cut packets into fragments of so many bytes', [8, 65_528]),
  flowLabel: whole('Flow label of IPv6', [0, 1_048_575]),
};

const vlan = listOf(
  'VLAN tags, the outer first',
  item({
    id: Type.Integer({ minimum: 0, maximum: 4094, description: 'VLAN' }),
    pcp: Type.Integer({ minimum: 0, maximum: 7, default: 0, description: 'Priority' }),
    tpid: Type.String({ default: '0x8100', pattern: '^0x[0-9a-fA-F]{4}$', description: 'Type of the tag' }),
  }),
  4,
);

/** For engines that build frames themselves. */
export const ipLayer = section('The IP header and what is around it', { version, srcMode, ...header, vlan });

/** For engines on sockets. Header fields and VLAN tags need emulated hosts: the kernel writes its own. */
export const socketIpLayer = section('The IP header', { version, srcMode, ...header, vlan: Type.Optional(vlan) });

/** For recorded packets, which say themselves what is changed in them. */
export const recordedIpLayer = section('The IP header and what is around it', {
  version,
  srcMode,
  ...ignoredAll({ ...header, vlan }),
});
