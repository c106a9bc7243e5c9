import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Dialer } from '../transport/transport.ts';

/** A datagram socket of the kernel, or of emulated hosts, for an address. */
export const openDatagramSocket = (address: string, via?: Dialer): Socket =>
  via?.createDatagramSocket() ?? createSocket(isIPv6(address) ? 'udp6' : 'udp4');
