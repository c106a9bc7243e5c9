import type { HttpValues, TcpValues } from '@rushhour/contract';
import type { Load, TcpTuning } from '@rushhour/protocol';
import type { ClientPart } from '../../core/load/traffic.ts';
import type { PlanScope } from '../../core/plan-scope.ts';

/** Options of kernel sockets, where the entry gives some. Emulated hosts have them in their stack. */
export const tuningOf = (
  { stack }: PlanScope,
  { tcpConfiguration }: Pick<HttpValues | TcpValues, 'tcpConfiguration'>,
): { tuning?: TcpTuning } => {
  if (stack !== undefined) return {};
  const { mss, window, congestion, synRetries } = tcpConfiguration;
  const options = Object.entries({ mss, window, congestion: congestion || undefined, synRetries });
  const tuning: TcpTuning = Object.fromEntries(options.filter(([, value]) => value !== undefined));
  return Object.keys(tuning).length > 0 ? { tuning } : {};
};

interface LoadOptions {
  /** Of the whole entry; undefined: as fast as possible. */
  readonly rate: number | undefined;
  readonly initialTps?: number | undefined;
  readonly tpsRampStep?: number | undefined;
}

/** The part of one client of a rate and of the stairs that lead up to it. */
export const loadOf = (part: ClientPart, { rate, initialTps, tpsRampStep }: LoadOptions): Load => {
  const own = part.rate(rate);
  if (own === undefined) return {};
  const [initialRate, rampStep] = [part.rate(initialTps), part.rate(tpsRampStep)];
  return {
    rate: own,
    ...(initialRate !== undefined && { initialRate }),
    ...(rampStep !== undefined && rampStep > 0 && { rampStep }),
  };
};
