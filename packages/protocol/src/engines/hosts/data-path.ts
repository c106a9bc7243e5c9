import { type Static, Type } from 'typebox';

/** Kernel interface of plain sockets. TLS always uses Node. */
export const DataPath = Type.Union(
  [Type.Literal('auto'), Type.Literal('io_uring'), Type.Literal('epoll'), Type.Literal('node')],
  {
    description:
      'auto: the fastest available; otherwise exactly this one. UDP supports epoll (many packets per system call) and node.',
  },
);
export type DataPath = Static<typeof DataPath>;

/** Kernel interface of raw frames. */
export const FramePath = Type.Union(
  [Type.Literal('auto'), Type.Literal('xdp'), Type.Literal('af_xdp'), Type.Literal('af_packet')],
  {
    description:
      'auto: the fastest available; otherwise exactly this one. xdp: the kernel writes and sends the frames.',
  },
);
export type FramePath = Static<typeof FramePath>;
