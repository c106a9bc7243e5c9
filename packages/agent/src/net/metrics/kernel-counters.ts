import { readFileSync } from 'node:fs';

/** A counter of the whole network namespace since it was created; 0 if the kernel does not provide it. */
const snmp = (protocol: string, name: string): number => {
  try {
    const [names = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`${protocol}:`));
    return Number(values.split(' ')[names.split(' ').indexOf(name)] ?? 0);
  } catch {
    return 0;
  }
};

/** UDP packets dropped because the receive buffer was full. */
export const udpBufferErrors = (): number => snmp('Udp', 'RcvbufErrors');
