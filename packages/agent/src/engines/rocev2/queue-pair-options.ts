import { randomInt } from 'node:crypto';
import type { Rocev2ClientConfig, Rocev2ServerConfig } from '@rushhour/protocol';
import type { QueuePairOptions } from '@rushhour/wire';
import { findLineRateBps } from '../stream/stream-path.ts';

/** Where the memory of every queue pair begins. */
const regionAddress = 0x1000_0000n;
const maxMtu = 4096;
/** Rate control begins at the speed of the line, which virtual interfaces may not know. */
const unknownLineBps = 10e9;
/** Packets of an agent that may be unacknowledged: the ring of the receiver must hold them. */
export const maxInFlight = 256;

export const pattern = Uint8Array.from({ length: maxMtu }, (_, index) => index & 0xff);

/** Rate of one of `count` queue pairs. */
const rateOf = (config: Rocev2ClientConfig | Rocev2ServerConfig, device: string, count: number): number => {
  const lineBps = findLineRateBps(device);
  if (config.linePct !== undefined) {
    if (lineBps === undefined) throw new RangeError(`${device} reports no link speed: set rateGbps`);
    return ((config.linePct / 100) * lineBps) / count;
  }
  if (config.rateBps !== undefined) return config.rateBps / count;
  return config.dcqcn === undefined ? Number.POSITIVE_INFINITY : (lineBps ?? unknownLineBps);
};

/** Options that both ends share. `count`: queue pairs that share the rate. */
export const pairOptionsOf = (
  config: Rocev2ClientConfig | Rocev2ServerConfig,
  device: string,
  count: number,
): QueuePairOptions => {
  const { mtu, messageBytes, dcqcn, congestion } = config;
  const region = { address: regionAddress, key: randomInt(1, 2 ** 32), bytes: messageBytes };
  return {
    responder: { mtu, region, pattern },
    maxBps: rateOf(config, device, count),
    ...(dcqcn !== undefined && { dcqcn }),
    ...(congestion !== undefined && { congestionDelayUs: congestion.delayUs }),
  };
};

/** The source port of a queue pair: a network spreads flows by it. */
export const portOf = (first: number | undefined, localQp: number): number =>
  first === undefined ? 0xc000 | (localQp & 0x3fff) : first + (localQp % (65_536 - first));
