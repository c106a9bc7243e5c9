import type { Send } from '@rushhour/client/routes';

const unknownAuthority = 'its certificate is of an unknown authority: name it with --ca-cert FILE';
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up now',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: name it with --ca-cert FILE',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: use http://',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS: use http://',
  EPROTO: 'it does not speak TLS: use http://',
  HPE_INVALID_CONSTANT: 'it does not speak HTTP: use https://',
};

/** The controller gave no answer; the message is one sentence. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

interface Failed extends Error {
  readonly code?: string;
  readonly cause?: { readonly code?: string; readonly message?: string };
  readonly errors?: readonly { readonly code?: string }[];
}

/** Why a request failed; undefined for errors of other kinds. */
const reasonOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || error instanceof Unreachable) return undefined;
  const { code, errors, cause, message } = error as Failed;
  const name = code ?? errors?.[0]?.code ?? cause?.code ?? '';
  if (reasons[name] !== undefined) return reasons[name];
  if (name.startsWith('UNABLE_TO_')) return unknownAuthority;
  if (error instanceof TypeError && /fetch failed|terminated/.test(message)) return cause?.message ?? 'it was closed';
  return /^(HPE_|ERR_SSL_|ERR_TLS_|CERT_)|_CERT/.test(code ?? '') || message === 'aborted' ? message : undefined;
};

/** The same error, or one that says in a sentence why the controller gave no answer. */
export const explained = (error: unknown, url: string): unknown => {
  const reason = reasonOf(error);
  return reason === undefined
    ? error
    : new Unreachable(`the controller at ${url} cannot be reached: ${reason}`, { cause: error });
};

/** The same `send`, whose failures are explained. */
export const explaining =
  (baseUrl: string, send: Send): Send =>
  (url, init) =>
    send(url, init).catch((error) => {
      throw explained(error, baseUrl);
    });
