import { scratch } from '../kernel/memory.ts';
import { requireOpenssl } from '../openssl/library.ts';

/** Two ends in memory: what OpenSSL writes to `inner` is read from `outer`, with the address it is for. */
export interface DatagramPair {
  readonly inner: number;
  readonly outer: number;
}

/** Bytes that OpenSSL may write before they are taken: more than a window of one connection, or of some. */
const room = { client: 64 << 10, server: 1 << 20 } as const;
/** The smallest there is: datagrams that arrive are handed over otherwise. */
const unusedRoom = 1024;

const control = { enableLocalAddress: 84, setCapabilities: 87 } as const;
const capability = { handlesSource: 1, handlesDestination: 2, providesSource: 4, providesDestination: 8 } as const;

export const openDatagramPair = (isServer: boolean): DatagramPair => {
  const openssl = requireOpenssl();
  const memory = scratch();
  const [innerAt, outerAt] = [memory.addressOf(0, 8), memory.addressOf(8, 8)];
  openssl.BIO_new_bio_dgram_pair(innerAt, isServer ? room.server : room.client, outerAt, unusedRoom);
  const [inner, outer] = [0, 8].map((at) => Number(memory.bytes.readBigUInt64LE(at))) as [number, number];
  const { handlesSource, handlesDestination, providesSource, providesDestination } = capability;
  // An end has what the other end can do.
  openssl.BIO_ctrl(outer, control.setCapabilities, handlesDestination | providesSource, 0);
  openssl.BIO_ctrl(
    inner,
    control.setCapabilities,
    handlesSource | providesDestination | handlesDestination | providesSource,
    0,
  );
  openssl.BIO_ctrl(outer, control.enableLocalAddress, 1, 0);
  return { inner, outer };
};
