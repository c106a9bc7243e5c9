import { formatAddress } from '@rushhour/wire';
import type { SynSeen } from '../net/host-network.ts';
import type { Stack } from './stack.ts';

const remoteWord = 4;
const portsWord = 8;

/** Requests for TCP connections to emulated hosts. */
export const watchStackSyns = ({ group: { tcp } }: Stack, onSyn: (seen: SynSeen) => void): (() => void) => {
  tcp.onSyn = (key) => {
    const ports = key[portsWord] as number;
    onSyn({
      ip: formatAddress(key, 0),
      port: ports >>> 16,
      peerIp: formatAddress(key, remoteWord),
      peerPort: ports & 0xffff,
    });
  };
  return () => {
    tcp.onSyn = undefined;
  };
};
