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
