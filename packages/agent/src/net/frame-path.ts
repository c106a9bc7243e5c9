import type { FramePath } from '@rushhour/protocol';
import type { Availability } from '../engine.ts';
import { PathUnavailable } from './data-path.ts';
import type { Device } from './packet/device.ts';
import { FrameSender } from './packet/frame-sender.ts';
import { probePackets } from './packet/packet-socket.ts';
import { openPacketOutlet } from './packet/packet-tx-path.ts';
import type { Outlet, OutletSizes } from './packet/tx-path.ts';
import { probeEpoll } from './path-probe.ts';
import { openLiveOutlet, probeLive } from './xdp/live-outlet.ts';
import { openXdpOutlet, probeXdp } from './xdp/xdp-outlet.ts';

interface Step {
  readonly path: Exclude<FramePath, 'auto'>;
  readonly way: string;
  /** Why it cannot be on this machine, whatever the interface. */
  probe(): string | undefined;
  /** Throws an error that says why not. */
  open(device: Device, sizes: OutletSizes): Outlet;
}

/** From the fastest way to the one that works wherever frames can be sent. */
const ladder: readonly Step[] = [
  { path: 'xdp', way: 'XDP live frames', probe: probeLive, open: openLiveOutlet },
  { path: 'af_xdp', way: 'AF_XDP', probe: probeXdp, open: openXdpOutlet },
  { path: 'af_packet', way: 'packet socket', probe: probePackets, open: openPacketOutlet },
];

/** Whether frames can be sent from here, and the fastest way they can take where the interface allows it. */
export const checkFrames = async (): Promise<Availability> => {
  const reason = probePackets() ?? probeEpoll();
  if (reason !== undefined) return { isAvailable: false, missing: ['raw frames'], reason };
  return { isAvailable: true, path: ladder.find(({ probe }) => probe() === undefined)?.way ?? 'packet socket' };
};

export interface FrameWish extends OutletSizes {
  readonly path: FramePath | undefined;
  readonly device: Device;
  /** Is told which faster ways had to be passed over, and why. */
  readonly note: (remark: string) => void;
}

/** Opens the way that is ordered, or the fastest that works on this interface. */
export const chooseFrameSender = ({ path = 'auto', device, note, ...sizes }: FrameWish): FrameSender => {
  const reasons: string[] = [];
  for (const step of ladder) {
    if (path !== 'auto' && step.path !== path) continue;
    if (path === 'auto' && sizes.isCaptured && step.path !== 'af_packet') {
      reasons.push(`captures do not see frames of ${step.path}`);
      continue;
    }
    try {
      const outlet = step.open(device, sizes);
      if (reasons.length > 0) note(`frames by ${step.way}: ${reasons.join('; ')}`);
      return new FrameSender(outlet, device, step.way);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new PathUnavailable(`frames cannot be sent by ${device.name}: ${reasons.join('; ') || `no way ${path}`}`);
};
