import type { LinkCodec } from './link.ts';

const hasNetwork = 0x08000000;

/** VXLAN (RFC 7348). `port` is 4789 unless the far end uses another. */
export const createVxlan = ({ network, port = 4789 }: { network: number; port?: number }): LinkCodec => ({
  name: 'vxlan',
  carrier: { kind: 'udp', port },
  payload: 'ethernet',
  headerLength: 8,
  id: network,
  idAt: ({ view }, start, end) => (end - start < 8 ? -1 : view.getInt32(start + 4) >>> 8),
  wrap({ view }, start) {
    view.setInt32(start - 8, hasNetwork);
    view.setInt32(start - 4, network << 8);
    return start - 8;
  },
  unwrap({ view }, start, end) {
    if (end - start < 8 || (view.getInt32(start) & hasNetwork) === 0) return -1;
    return view.getInt32(start + 4) >>> 8 === network ? start + 8 : -1;
  },
});
