import { readFileSync } from 'node:fs';

/** A counter of the network namespace since it came up, of everyone in it; 0 where the kernel does not say. */
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

/** TCP segments sent again. */
export const retransmittedSegments = (): number => snmp('Tcp', 'RetransSegs');

/** UDP packets that arrived and were dropped because nobody read them in time. */
export const udpBufferErrors = (): number => snmp('Udp', 'RcvbufErrors');
