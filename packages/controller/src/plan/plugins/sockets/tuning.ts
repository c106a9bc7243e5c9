import type { HttpValues, TcpValues } from '@rushhour/contract';
import type { TcpTuning } from '@rushhour/protocol';

/** How sockets are to be, where that is asked for. */
export const tuningOf = ({ tcpConfiguration }: Pick<HttpValues | TcpValues, 'tcpConfiguration'>) => {
  const { mss, window, congestion, synRetries } = tcpConfiguration;
  const wishes = Object.entries({ mss, window, congestion: congestion || undefined, synRetries });
  const tuning: TcpTuning = Object.fromEntries(wishes.filter(([, value]) => value !== undefined));
  return Object.keys(tuning).length > 0 ? { tuning } : {};
};
