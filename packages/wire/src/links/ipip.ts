import { ipProtocol } from '../ip/header-fields.ts';
import { ipVersionAt, type LinkCodec } from './link.ts';

/** IP in IP without a header of its own: 4in4, 4in6 (protocol 4), 6in4, 6in6 (protocol 41). */
export const createIpip = (innerVersion: 4 | 6): LinkCodec => ({
  name: 'ipip',
  carrier: { kind: 'ip', protocol: innerVersion === 4 ? ipProtocol.ipip : ipProtocol.ipv6 },
  payload: 'ip',
  headerLength: 0,
  id: innerVersion,
  idAt: (memory, start, end) => ipVersionAt(memory, start, end),
  wrap: (_memory, start) => start,
  unwrap: (memory, start, end) => (ipVersionAt(memory, start, end) === innerVersion ? start : -1),
});
