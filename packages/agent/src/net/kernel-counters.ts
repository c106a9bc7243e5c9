import { readFileSync } from 'node:fs';

/** TCP segments sent again since the network namespace came up, by everyone in it; 0 where the kernel does not say. */
export const retransmittedSegments = (): number => {
  try {
    const [names = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('Tcp:'));
    return Number(values.split(' ')[names.split(' ').indexOf('RetransSegs')] ?? 0);
  } catch {
    return 0;
  }
};
