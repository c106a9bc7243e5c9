import { mapMemory } from '../kernel/memory.ts';
import { alertName, verifyFailure } from '../openssl/alerts.ts';
import { requireOpenssl } from '../openssl/library.ts';

/** Transport errors of QUIC by number (RFC 9000, section 20.1). */
const transportErrors = [
  'noError',
  'internalError',
  'connectionRefused',
  'flowControlError',
  'streamLimitError',
  'streamStateError',
  'finalSizeError',
  'frameEncodingError',
  'transportParameterError',
  'connectionIdLimitError',
  'protocolViolation',
  'invalidToken',
  'applicationError',
  'cryptoBufferExceeded',
  'keyUpdateError',
  'aeadLimitReached',
  'noViablePath',
] as const;

const infoBytes = 40;
const flag = { isLocal: 1, isTransport: 2 } as const;
/** Transport errors from here on carry the number of a TLS alert. */
const firstAlert = 0x100;
const noErrorOfHttp = 0x100;
let info: ReturnType<typeof mapMemory> | undefined;

/** Why a connection has ended. */
export interface CloseReason {
  /** Undefined: an orderly close. */
  readonly code: string | undefined;
  /** The TLS alert behind it. */
  readonly alert?: number;
  readonly isLocal: boolean;
}

const nameOf = (code: bigint, isTransport: boolean): string | undefined => {
  if (code > 0xffff_ffff_ffffn) return 'ETIMEDOUT';
  const number = Number(code);
  if (!isTransport) return number === 0 || number === noErrorOfHttp ? undefined : `quic.0x${number.toString(16)}`;
  if (number === 0) return undefined;
  return `quic.${transportErrors[number] ?? `0x${number.toString(16)}`}`;
};

/** The reason of a connection that has ended or failed; errors of the certificate as with TLS. */
export const closeReasonOf = (ssl: number): CloseReason => {
  const openssl = requireOpenssl();
  info ??= mapMemory({ length: infoBytes });
  const isKnown = openssl.SSL_get_conn_close_info(ssl, info.addressOf(0, infoBytes), infoBytes) === 1;
  openssl.ERR_clear_error();
  if (!isKnown) return { code: 'closed', isLocal: true };
  const code = info.bytes.readBigUInt64LE(0);
  const flags = info.bytes.readUInt32LE(32);
  const [isLocal, isTransport] = [(flags & flag.isLocal) !== 0, (flags & flag.isTransport) !== 0];
  const isAlert = isTransport && code >= firstAlert && code < firstAlert + 256;
  if (!isAlert) return { code: nameOf(code, isTransport), isLocal };
  const alert = Number(code) - firstAlert;
  const verified = openssl.SSL_get_verify_result(ssl);
  const isUnverified = isLocal && verified !== 0;
  return { code: isUnverified ? verifyFailure(verified)[0] : `alert.${alertName(alert)}`, alert, isLocal };
};
