import type { FramePath } from '@rushhour/protocol';
import type { Availability } from '../engine.ts';
import { PathUnavailable } from './data-path.ts';
import type { Device } from './packet/device.ts';
import { openPacketTxPath } from './packet/frame-batch.ts';
import { FrameSender } from './packet/frame-sender.ts';
import { probePackets } from './packet/packet-socket.ts';
import type { TxPath, TxPathOptions } from './packet/tx-path.ts';
import { probeEpoll } from './path-probe.ts';
import { openAfXdpTxPath, probeAfXdp } from './xdp/af-xdp-tx-path.ts';
import { openXdpTxPath, probeXdpTx } from './xdp/xdp-tx-path.ts';

interface FramePathCandidate {
  readonly path: Exclude<FramePath, 'auto'>;
  readonly name: string;
  /** Why it is not available on this machine, whatever the interface. */
  probe(): string | undefined;
  /** Throws if the interface does not support it. */
  open(device: Device, sizes: TxPathOptions): TxPath;
}

/** From the fastest to the one that works wherever frames can be sent. */
const candidates: readonly FramePathCandidate[] = [
  { path: 'xdp', name: 'XDP live frames', probe: probeXdpTx, open: openXdpTxPath },
  { path: 'af_xdp', name: 'AF_XDP', probe: probeAfXdp, open: openAfXdpTxPath },
  { path: 'af_packet', name: 'packet socket', probe: probePackets, open: openPacketTxPath },
];

/** Whether frames can be sent from this machine, and the fastest path where the interface supports it. */
export const checkFrames = async (): Promise<Availability> => {
  const reason = probePackets() ?? probeEpoll();
  if (reason !== undefined) return { isAvailable: false, missing: ['raw frames'], reason };
  return { isAvailable: true, path: candidates.find(({ probe }) => probe() === undefined)?.name ?? 'packet socket' };
};

export interface FrameSenderOptions extends TxPathOptions {
  readonly path: FramePath | undefined;
  readonly device: Device;
  /** Frames change after they were written, so that no kernel program can write their time. */
  readonly isCut?: boolean;
  /** Called with the faster paths that were skipped, and why. */
  readonly note: (remark: string) => void;
}

/** Opens the requested path, or the fastest that works on this interface. */
export const openFrameSender = (options: FrameSenderOptions): FrameSender => {
  const { path = 'auto', device, note, isCut = false, ...sizes } = options;
  const reasons: string[] = [];
  for (const candidate of candidates) {
    if (path !== 'auto' && candidate.path !== path) continue;
    if (isCut && candidate.path === 'xdp') {
      reasons.push('fragments do not leave by XDP live frames');
      continue;
    }
    if (path === 'auto' && sizes.isCaptured && candidate.path !== 'af_packet') {
      reasons.push(`captures do not see frames of ${candidate.path}`);
      continue;
    }
    try {
      const txPath = candidate.open(device, sizes);
      if (reasons.length > 0) note(`frames by ${candidate.name}: ${reasons.join('; ')}`);
      return new FrameSender(txPath, device, candidate.name);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new PathUnavailable(
    `frames cannot be sent by ${device.name}: ${reasons.join('; ') || `there is no path ${path}`}`,
  );
};
