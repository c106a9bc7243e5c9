import type { TlsClientSettings } from '@rushhour/protocol';
import { OpensslDialer } from './openssl/openssl-dialer.ts';
import type { TlsObserver } from './openssl/tls-connection.ts';
import { fallbackReason } from './secure-path.ts';
import type { SecureDialer } from './tls/dialer.ts';
import { NodeDialer } from './tls/node-dialer.ts';
import { remarkOnNodeTls } from './tls/tls-options.ts';

export interface SecureDialerOptions extends TlsObserver {
  readonly note: (remark: string) => void;
}

/** TLS for the side that connects. */
export const createSecureDialer = (settings: TlsClientSettings, options: SecureDialerOptions): SecureDialer => {
  const reason = fallbackReason(undefined);
  if (reason === undefined) return new OpensslDialer(settings, options);
  options.note(remarkOnNodeTls(reason, settings));
  return new NodeDialer(settings);
};
