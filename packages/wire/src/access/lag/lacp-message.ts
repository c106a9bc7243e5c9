import type { Memory } from '../../bytes/memory.ts';
import { copyMac, macBytes } from '../../ethernet/ethernet.ts';

/** EtherType of slow protocols, and the group that they are sent to. */
export const slowProtocolType = 0x8809;
export const slowProtocolMac: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0, 0, 2);
export const lacpBytes = 110;

const lacpSubtype = 1;
const infoBytes = 20;
const [actorTlv, partnerTlv, collectorTlv] = [1, 2, 3] as const;
const collectorBytes = 16;

export const lacpState = {
  activity: 1,
  shortTimeout: 2,
  aggregation: 4,
  synchronization: 8,
  collecting: 16,
  distributing: 32,
  defaulted: 64,
  expired: 128,
} as const;

/** What one end of a link says about itself, or believes of the other end. */
export interface LacpInfo {
  readonly systemPriority: number;
  readonly system: Uint8Array;
  readonly key: number;
  readonly portPriority: number;
  readonly port: number;
  /** Bits of `lacpState`. */
  readonly state: number;
}

export const unknownPartner: LacpInfo = {
  systemPriority: 0,
  system: new Uint8Array(macBytes),
  key: 0,
  portPriority: 0,
  port: 0,
  state: 0,
};

export interface LacpMessage {
  readonly actor: LacpInfo;
  readonly partner: LacpInfo;
}

const readInfo = ({ bytes, view }: Memory, at: number): LacpInfo => ({
  systemPriority: view.getUint16(at + 2),
  system: new Uint8Array(bytes.subarray(at + 4, at + 10)),
  key: view.getUint16(at + 10),
  portPriority: view.getUint16(at + 12),
  port: view.getUint16(at + 14),
  state: view.getUint8(at + 16),
});

const writeInfo = ({ bytes, view }: Memory, at: number, type: number, info: LacpInfo): void => {
  view.setUint8(at, type);
  view.setUint8(at + 1, infoBytes);
  view.setUint16(at + 2, info.systemPriority);
  copyMac(info.system, 0, bytes, at + 4);
  view.setUint16(at + 10, info.key);
  view.setUint16(at + 12, info.portPriority);
  view.setUint16(at + 14, info.port);
  view.setUint8(at + 16, info.state);
};

/** Reads the payload of a slow protocol frame; undefined if it is no LACP. Later versions begin like version 1. */
export const readLacp = (memory: Memory, at: number, end: number): LacpMessage | undefined => {
  const { view } = memory;
  if (end - at < lacpBytes || view.getUint8(at) !== lacpSubtype) return undefined;
  const [actor, partner] = [at + 2, at + 2 + infoBytes];
  if (view.getUint16(actor) !== ((actorTlv << 8) | infoBytes)) return undefined;
  if (view.getUint16(partner) !== ((partnerTlv << 8) | infoBytes)) return undefined;
  return { actor: readInfo(memory, actor), partner: readInfo(memory, partner) };
};

/** Writes a LACPDU of version 1 at `at`; returns its end. */
export const writeLacp = (memory: Memory, at: number, { actor, partner }: LacpMessage): number => {
  const { bytes, view } = memory;
  bytes.fill(0, at, at + lacpBytes);
  view.setUint16(at, (lacpSubtype << 8) | 1);
  writeInfo(memory, at + 2, actorTlv, actor);
  writeInfo(memory, at + 2 + infoBytes, partnerTlv, partner);
  view.setUint16(at + 2 + 2 * infoBytes, (collectorTlv << 8) | collectorBytes);
  return at + lacpBytes;
};

export const isSameSystem = (a: LacpInfo, b: LacpInfo): boolean =>
  a.systemPriority === b.systemPriority && a.system.every((byte, i) => byte === b.system[i]);

/** The same port of the same group; what its state says apart. */
export const isSamePort = (a: LacpInfo, b: LacpInfo): boolean =>
  isSameSystem(a, b) && a.key === b.key && a.portPriority === b.portPriority && a.port === b.port;
