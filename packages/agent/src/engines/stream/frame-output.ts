import { randomInt } from 'node:crypto';
import type { StreamClientConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../engine.ts';
import { openFrameSender } from '../../net/frame-path.ts';
import type { Device } from '../../net/packet/device.ts';
import { FragmentCutter } from '../../net/packet/frame/fragment-cutter.ts';
import { minFrameBytes } from '../../net/packet/frame/frame-template.ts';
import { type Layer, lengthOf } from '../../net/packet/frame/layer.ts';
import { FragmentSender, type FrameOutput } from './fragment-sender.ts';
import type { SizePlan } from './sizes.ts';

const batchCount = 128;

/** Frames of streams: the interface they leave by, their sizes and the headers that all of them have. */
interface StreamFrames {
  readonly device: Device;
  readonly sizes: SizePlan;
  readonly layers: readonly Layer[];
}

type Context = Pick<EngineContext<StreamClientConfig>, 'config' | 'host' | 'note'>;

/** Opens what the frames are sent by. Throws for frames that the interface, or their headers, have no room for. */
export const openOutput = ({ config, host, note }: Context, frames: StreamFrames): FrameOutput => {
  const { device } = frames;
  const cutter = cutterFor(config, frames.layers);
  const bytes = Math.max(...frames.sizes.sizes);
  checkSizes(config, frames, cutter?.longestOf(bytes) ?? bytes);
  const sender = openFrameSender({
    path: config.framePath,
    device,
    count: Math.max(batchCount, cutter?.partsOf(bytes).length ?? 0),
    bytes: cutter?.longestOf(bytes) ?? bytes,
    note,
    isCaptured: host.isCaptured,
    isCut: cutter !== undefined,
  });
  return cutter === undefined ? sender : new FragmentSender(sender, cutter, { count: batchCount, bytes });
};

/** Undefined where frames leave whole. */
const cutterFor = ({ headers }: StreamClientConfig, layers: readonly Layer[]): FragmentCutter | undefined => {
  if (headers.fragmentBytes === undefined) return undefined;
  const ip = layers.findLastIndex(({ kind }) => kind === 'ipv4' || kind === 'ipv6');
  const [ipAt, isV6] = [lengthOf(layers.slice(0, ip)), layers[ip]?.kind === 'ipv6'];
  return new FragmentCutter({ ipAt, isV6, maxPacket: headers.fragmentBytes }, randomInt(65_536));
};

/** `longest`: of the frames that leave. */
const checkSizes = (
  { headers }: StreamClientConfig,
  { device, sizes, layers }: StreamFrames,
  longest: number,
): void => {
  const { mtu, name } = device;
  const room = mtu + 14 + (headers.vlan.length > 0 ? 4 : 0);
  if (longest > room) throw new RangeError(`frames of ${longest + 4} bytes exceed the MTU ${mtu} of ${name}`);
  const needed = minFrameBytes(layers);
  if (Math.min(...sizes.sizes) < needed)
    throw new RangeError(`headers and signature need frames of at least ${needed + 4} bytes`);
};
