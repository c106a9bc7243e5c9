import type { PlaneContext } from './router.ts';

interface OwnPacket {
  /** Source and destination, four words each. */
  readonly key: Int32Array;
  readonly host: number;
  readonly protocol: number;
  readonly bytes: Uint8Array;
}

/** Sends a message of an IP protocol from an emulated host; false while the MAC of its receiver is not known. */
export const sendPacket = ({ layers }: PlaneContext, { key, host, protocol, bytes }: OwnPacket): boolean => {
  const { output } = layers.group;
  const at = output.begin(key, 0, host, protocol, bytes.length);
  if (at < 0) return false;
  output.memory.bytes.set(bytes, at);
  output.commit(at, bytes.length, 0);
  return true;
};
