import { bytesOfAddress, textOfAddress } from '../address-bytes.ts';
import { MessageWriter } from '../message-writer.ts';
import {
  findTlv,
  type LdpError,
  type LdpMessage,
  ldpTlv,
  ldpType,
  parsePdu,
  requireTlv,
  writeLdpMessage,
  writePdu,
  writeTlv,
} from './pdu.ts';

const targetedBit = 0x8000;
const requestBit = 0x4000;

export interface LdpHello {
  readonly lsrId: number;
  readonly holdSec: number;
  /** Of a neighbour that need not be adjacent. */
  readonly isTargeted: boolean;
  /** Asks the receiver for targeted hellos. */
  readonly isRequest: boolean;
  /** Address of the TCP session, of the version of the packet; undefined: the source of the packet. */
  readonly transport: string | undefined;
}

export const encodeHello = (hello: LdpHello & { readonly transport: string }, messageId: number): Uint8Array => {
  const writer = new MessageWriter(64);
  const flags = (hello.isTargeted ? targetedBit : 0) | (hello.isRequest ? requestBit : 0);
  const transport = bytesOfAddress(hello.transport);
  writePdu(writer, hello.lsrId, () =>
    writeLdpMessage(writer, ldpType.hello, messageId, () => {
      writeTlv(writer, ldpTlv.helloParameters, () => writer.u16(hello.holdSec).u16(flags));
      const type = transport.length === 4 ? ldpTlv.ipv4Transport : ldpTlv.ipv6Transport;
      writeTlv(writer, type, () => writer.copy(transport));
    }),
  );
  return writer.take();
};

/**
 * Reads the hello of a datagram; undefined: it has none. Throws an `LdpError` where it makes no sense. A transport address of
 * the other version of IP is ignored (RFC 7552, section 6.1).
 */
export const parseHello = (
  bytes: Uint8Array,
  isV6: boolean,
  refuse?: (error: LdpError) => void,
): LdpHello | undefined => {
  const { lsrId, messages } = parsePdu(bytes, refuse);
  const message = messages.find(({ type }) => type === ldpType.hello);
  if (message === undefined) return undefined;
  const parameters = requireTlv(message, ldpTlv.helloParameters, 4);
  const flags = parameters.getUint16(2);
  return {
    lsrId,
    holdSec: parameters.getUint16(0),
    isTargeted: (flags & targetedBit) !== 0,
    isRequest: (flags & requestBit) !== 0,
    transport: transportOf(message, isV6),
  };
};

const transportOf = (message: LdpMessage, isV6: boolean): string | undefined => {
  const size = isV6 ? 16 : 4;
  const value = findTlv(message, isV6 ? ldpTlv.ipv6Transport : ldpTlv.ipv4Transport, size);
  return value && textOfAddress(new Uint8Array(value.buffer, value.byteOffset, size));
};
