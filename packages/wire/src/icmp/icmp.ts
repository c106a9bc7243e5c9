import { checksumOf, isSumValid, sumBytes } from '../bytes/checksum.ts';
import type { Memory } from '../bytes/memory.ts';

export const icmp4Type = {
  echoReply: 0,
  unreachable: 3,
  redirect: 5,
  echo: 8,
  routerAdvertisement: 9,
  routerSolicitation: 10,
  timeExceeded: 11,
  parameterProblem: 12,
  timestamp: 13,
  timestampReply: 14,
} as const;

export const icmp6Type = {
  unreachable: 1,
  packetTooBig: 2,
  timeExceeded: 3,
  parameterProblem: 4,
  echo: 128,
  echoReply: 129,
  routerSolicitation: 133,
  routerAdvertisement: 134,
  neighbourSolicitation: 135,
  neighbourAdvertisement: 136,
  redirect: 137,
} as const;

export const icmpBytes = 8;

/** What an ICMP error means for the flow it quotes. */
export type IcmpErrorKind = 'unreachable' | 'refused' | 'tooBig' | 'timeExceeded' | 'parameterProblem';

/** A message, parsed into one object that is used again. */
export class IcmpMessage {
  type = 0;
  code = 0;
  /** Second word: identifier × 65536 + sequence of an echo, MTU of an error. */
  word = 0;
  body = 0;
  end = 0;

  /** `pseudoSum`: folded sum of the pseudo-header of ICMPv6, 0 for ICMP. */
  parse(memory: Memory, start: number, end: number, pseudoSum: number, checks: boolean): boolean {
    if (end - start < icmpBytes) return false;
    if (checks && !isSumValid(pseudoSum + sumBytes(memory, start, end))) return false;
    this.type = memory.view.getUint8(start);
    this.code = memory.view.getUint8(start + 1);
    this.word = memory.view.getInt32(start + 4);
    this.body = start + icmpBytes;
    this.end = end;
    return true;
  }
}

/** Writes header and checksum of a message whose body already stands behind it. */
export const writeIcmp = (
  memory: Memory,
  at: number,
  end: number,
  message: { type: number; code: number; word: number; pseudoSum: number },
): void => {
  const { view } = memory;
  view.setUint16(at, (message.type << 8) | message.code);
  view.setUint16(at + 2, 0);
  view.setInt32(at + 4, message.word);
  view.setUint16(at + 2, checksumOf(message.pseudoSum + sumBytes(memory, at, end)));
};

const unreachablePort4 = 3;
const unreachableProtocol4 = 2;
const fragmentationNeeded = 4;
const unreachablePort6 = 4;

/** The kind of an error message, undefined for anything else. */
export const errorKindOf = (isV6: boolean, type: number, code: number): IcmpErrorKind | undefined => {
  if (isV6) {
    if (type === icmp6Type.unreachable) return code === unreachablePort6 ? 'refused' : 'unreachable';
    if (type === icmp6Type.packetTooBig) return 'tooBig';
    if (type === icmp6Type.timeExceeded) return 'timeExceeded';
    return type === icmp6Type.parameterProblem ? 'parameterProblem' : undefined;
  }
  if (type === icmp4Type.unreachable) {
    if (code === fragmentationNeeded) return 'tooBig';
    return code === unreachablePort4 || code === unreachableProtocol4 ? 'refused' : 'unreachable';
  }
  if (type === icmp4Type.timeExceeded) return 'timeExceeded';
  return type === icmp4Type.parameterProblem ? 'parameterProblem' : undefined;
};

/** Path MTU of a "too big" error. Routers from before RFC 1191 give none: the next lower common MTU is taken. */
export const mtuOfError = (isV6: boolean, word: number, quotedLength: number): number => {
  const mtu = isV6 ? word >>> 0 : word & 0xffff;
  if (mtu !== 0) return Math.min(mtu, 65_535);
  return [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296].find((common) => common < quotedLength) ?? 296;
};
