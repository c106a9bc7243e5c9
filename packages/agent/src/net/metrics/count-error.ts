import type { Samples } from '../../engine.ts';
import { isOwnSocketError, strainMetrics } from './generator-load-metrics.ts';

const kinds: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
};

/** The class of a failure, as it appears in the name of its counter. */
const errorKindOf = (code: string): string => {
  if (isOwnSocketError(code)) return 'local';
  if (/^ERR_(SSL|TLS)|CERT|SELF_SIGNED|^EPROTO$/.test(code)) return 'tls';
  return kinds[code] ?? (/^[A-Z0-9_]+$/.test(code) ? 'other' : code);
};

export const codeOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? 'other';

/** Counts a failure by its class; what is this machine's own fault also counts as strain. */
export const countError = (samples: Samples, engine: string, code: string, count = 1): void => {
  if (isOwnSocketError(code)) samples.counter(strainMetrics.socketErrors).add(count);
  samples.counter(`${engine}.errors.${errorKindOf(code)}`).add(count);
};
