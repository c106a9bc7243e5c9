import { findClientHello, ja3Of, ja4Of } from '@rushhour/pcap';
import type { TlsFingerprint } from '@rushhour/protocol';
import type { SecureDialer, TlsOffer } from '../../../net/tls/dialer.ts';

/** The fingerprints of the first message of a connection; undefined if it is none, or not whole. */
export const fingerprintIn = (bytes: Buffer): TlsFingerprint | 'incomplete' | undefined => {
  const hello = findClientHello(bytes, 0, bytes.length);
  return typeof hello === 'object' ? { ja3: ja3Of(hello), ja4: ja4Of(hello) } : hello;
};

const prints = new WeakMap<SecureDialer, Map<string, Promise<TlsFingerprint | undefined>>>();

const madeBy = async (dialer: SecureDialer, offer: TlsOffer): Promise<TlsFingerprint | undefined> => {
  const found = fingerprintIn(await dialer.clientHello(offer));
  return found === 'incomplete' ? undefined : found;
};

/** Computed once: nothing in it depends on the connection but what is offered and whether a name is sent. */
export const fingerprintOf = (dialer: SecureDialer, offer: TlsOffer): Promise<TlsFingerprint | undefined> => {
  const ofDialer = prints.get(dialer) ?? new Map<string, Promise<TlsFingerprint | undefined>>();
  prints.set(dialer, ofDialer);
  const { hello, alpn, serverName } = offer;
  const key = JSON.stringify([hello, alpn, serverName !== undefined]);
  const print = ofDialer.get(key) ?? madeBy(dialer, offer);
  ofDialer.set(key, print);
  return print;
};
