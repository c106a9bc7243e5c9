import type { Attempt, Exchange, PacketForm } from '@rushhour/protocol';

/** The exchange with packets of a form; undefined for those without a stream of their own. */
export const withPackets = <T extends Exchange>(exchange: T, packets: PacketForm): T | undefined => {
  const isStream = exchange.protocol === 'http' || (exchange.protocol === 'raw' && exchange.transport === 'tcp');
  return isStream ? { ...exchange, packets } : undefined;
};

/** Attacks leave in packets of the form; harmless requests, and what has no stream of its own, leave as usual. */
export const inPackets = <T extends Pick<Attempt, 'kind' | 'exchange'>>(attempts: readonly T[], form: string): T[] =>
  attempts.map((attempt) =>
    form === 'plain' || attempt.kind === 'benign'
      ? attempt
      : { ...attempt, exchange: withPackets(attempt.exchange, form as PacketForm) ?? attempt.exchange },
  );
