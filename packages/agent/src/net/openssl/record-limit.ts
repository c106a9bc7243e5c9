import { type Memory, mapMemory } from '../kernel/memory.ts';
import { type Openssl, requireOpenssl } from './library.ts';

const extensionType = 28;
/** Messages that may carry an extension. */
const message = { clientHello: 0x80, serverHello: 0x100, encryptedExtensions: 0x400 } as const;
const alert = { illegalParameter: 47, handshakeFailure: 40, decodeError: 50 } as const;
const maxSendFragment = 52;
const [smallest, smallestToSend] = [64, 512] as const;
export const maxRecordBytes = 16_384;
const tls13 = 0x304;
const [goesOn, fails] = [1, 0] as const;

/** What is sent for a limit: with TLS 1.3 it includes the byte for the type of the content. */
interface Offer {
  readonly memory: Memory;
  readonly older: number;
  readonly newer: number;
}

const offers = new Map<number, Offer>();

const offerOf = (bytes: number): Offer => {
  const known = offers.get(bytes);
  if (known !== undefined) return known;
  const memory = mapMemory({ length: 4 });
  memory.bytes.writeUInt16BE(bytes, 0);
  memory.bytes.writeUInt16BE(bytes + 1, 2);
  const offer = { memory, older: memory.addressOf(0, 2), newer: memory.addressOf(2, 2) };
  offers.set(bytes, offer);
  return offer;
};

const parameters =
  'uintptr_t session, uint type, uint context, uintptr_t bytes, CONTENT, uintptr_t x509, size_t chain, uintptr_t alert, uintptr_t data';
const addPrototype = `int RushhourAddLimit(${parameters.replace('CONTENT', 'uintptr_t length')})`;
const parsePrototype = `int RushhourParseLimit(${parameters.replace('CONTENT', 'size_t length')})`;

type Callback = (
  session: number,
  type: number,
  context: number,
  bytes: number,
  length: number,
  x509: number,
  chain: number,
  alert: number,
  data: number,
) => number;

const createAdd =
  (openssl: Openssl): Callback =>
  (_session, _type, context, to, lengthTo, _x509, _chain, _alert, data) => {
    const isOlder = Number(context) === message.serverHello;
    new DataView(openssl.view(Number(to), 8)).setBigUint64(0, BigInt(data) + (isOlder ? 0n : 2n), true);
    new DataView(openssl.view(Number(lengthTo), 8)).setBigUint64(0, 2n, true);
    return goesOn;
  };

const createParse =
  (openssl: Openssl): Callback =>
  (session, _type, _context, bytes, length, _x509, _chain, alertAt) => {
    const refuse = (code: number): number => {
      new DataView(openssl.view(Number(alertAt), 4)).setInt32(0, code, true);
      return fails;
    };
    if (Number(length) !== 2) return refuse(alert.decodeError);
    const limit = new DataView(openssl.view(Number(bytes), 2)).getUint16(0);
    if (limit < smallest) return refuse(alert.illegalParameter);
    const data = openssl.SSL_version(Number(session)) === tls13 ? limit - 1 : limit;
    // OpenSSL sends no smaller ones.
    if (data < smallestToSend) return refuse(alert.handshakeFailure);
    const own = limits.get(openssl.SSL_get_SSL_CTX(Number(session))) ?? maxRecordBytes;
    openssl.SSL_ctrl(Number(session), maxSendFragment, Math.min(data, own), 0);
    return goesOn;
  };

/** Limits of contexts, which their own records keep to as well. */
const limits = new Map<number, number>();
let callbacks: { readonly add: number; readonly parse: number } | undefined;

/**
 * Asks the other end for records of at most so many bytes of data and keeps to what it asks for (RFC 8449); servers ask
 * only those who do. OpenSSL has no such extension, so that it is added to the context.
 */
export const limitRecords = (context: number, bytes: number): void => {
  const openssl = requireOpenssl();
  callbacks ??= {
    add: openssl.callback(addPrototype, createAdd(openssl) as never),
    parse: openssl.callback(parsePrototype, createParse(openssl) as never),
  };
  const { add, parse } = callbacks;
  const where = message.clientHello | message.serverHello | message.encryptedExtensions;
  openssl.SSL_CTX_ctrl(context, maxSendFragment, bytes, 0);
  openssl.SSL_CTX_add_custom_ext(context, extensionType, where, add, 0, offerOf(bytes).older, parse, 0);
  limits.set(context, bytes);
};

export const forgetLimit = (context: number): void => void limits.delete(context);
