import { isPublicKeyText } from './package-signature.ts';

const prefix = 'rh_join_';
const keyPrefix = 'rh_key_';

/** A join token: a secret that the controller knows by its hash, and the public key of the controller. */
export const joinTokenOf = (secret: string, controllerKey: string): string =>
  `${prefix}${secret}.${controllerKey.slice(keyPrefix.length)}`;

/** The parts of a join token; the key is undefined in a token without one. Only the secret is sent. */
export const parseJoinToken = (token: string): { secret: string; controllerKey?: string } => {
  const [head = '', key = ''] = token.split('.');
  const secret = head.startsWith(prefix) ? head.slice(prefix.length) : head;
  const controllerKey = `${keyPrefix}${key}`;
  return isPublicKeyText(controllerKey) ? { secret, controllerKey } : { secret };
};

/** Whether a host name or address always means this machine. */
export const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
