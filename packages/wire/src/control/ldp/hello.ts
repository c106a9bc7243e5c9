import { MessageWriter } from '../message-writer.ts';
import {
  findTlv,
  type LdpError,
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
  /** Address of the TCP session; undefined: the source of the packet. */
  readonly transport: number | undefined;
}

export const encodeHello = (hello: LdpHello & { readonly transport: number }, messageId: number): Uint8Array => {
  const writer = new MessageWriter(64);
  const flags = (hello.isTargeted ? targetedBit : 0) | (hello.isRequest ? requestBit : 0);
  writePdu(writer, hello.lsrId, () =>
    writeLdpMessage(writer, ldpType.hello, messageId, () => {
      writeTlv(writer, ldpTlv.helloParameters, () => writer.u16(hello.holdSec).u16(flags));
      writeTlv(writer, ldpTlv.ipv4Transport, () => writer.u32(hello.transport));
    }),
  );
  return writer.take();
};

/** Reads the hello of a datagram; undefined: it has none. Throws an `LdpError` where it makes no sense. */
export const parseHello = (bytes: Uint8Array, refuse?: (error: LdpError) => void): LdpHello | undefined => {
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
    transport: findTlv(message, ldpTlv.ipv4Transport, 4)?.getUint32(0),
  };
};
