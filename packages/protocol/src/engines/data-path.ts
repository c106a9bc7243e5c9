import { type Static, Type } from 'typebox';

/** How plain sockets reach the kernel. TLS always goes by Node. */
export const DataPath = Type.Union(
  [Type.Literal('auto'), Type.Literal('io_uring'), Type.Literal('epoll'), Type.Literal('node')],
  {
    description:
      'auto: the fastest the machine allows; otherwise this one or none. UDP knows two: epoll, with many packets in one system call, and node.',
  },
);
export type DataPath = Static<typeof DataPath>;

/** How whole frames reach the interface. */
export const FramePath = Type.Union(
  [Type.Literal('auto'), Type.Literal('xdp'), Type.Literal('af_xdp'), Type.Literal('af_packet')],
  {
    description:
      'auto: the fastest that the machine and the interface allow; otherwise this one or none. xdp: the kernel itself writes and sends the frames.',
  },
);
export type FramePath = Static<typeof FramePath>;
