import type { ScanExchange } from '@rushhour/protocol';

const usuallyOpen = '22,80,443,445';
const maxScannedPorts = 1024;

/** The ports of a text such as `22,80-90`, in its order. */
export const portsIn = (text: string, max = maxScannedPorts): number[] => {
  const found = new Set<number>();
  for (const range of text.split(',')) {
    const [first = 0, last = first] = range.split('-').map(Number);
    for (let port = Math.max(1, first); port <= Math.min(last, 65_535) && found.size < max; port++) found.add(port);
  }
  return [...found];
};

interface Scan {
  readonly ports: string;
  readonly addresses: number;
  readonly open: string;
  readonly timeoutMs: number;
  readonly rate: number;
}

/** Looks at every port of some addresses; what listens where is settled once all steps are known. */
export const scanOf = ({ ports, addresses, open, timeoutMs, rate }: Scan) => {
  const isOpen = new Set(portsIn(open || usuallyOpen));
  return Array.from({ length: addresses }, (_, addressIndex) =>
    portsIn(ports).map((port) => {
      const exchange: ScanExchange = { protocol: 'scan', port, isOpen: isOpen.has(port), timeoutMs };
      return { exchange, port, addressIndex, delayMs: 1000 / rate };
    }),
  ).flat();
};
