import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../engine.ts';
import { ApplicationMeters } from './meters.ts';
import type { LocalValues } from './values.ts';

/** A target and the ports that replace the recorded ones. */
export interface ReplayTarget {
  readonly weight: number;
  readonly address: string;
  readonly ports: ReadonlyMap<number, readonly number[]>;
  readonly meters: ApplicationMeters;
}

export const replayTargetsOf = ({
  config,
  samples,
  addressOf,
}: EngineContext<ApplicationClientConfig>): ReplayTarget[] =>
  config.targets.map(({ host, weight, ports }) => ({
    weight,
    address: addressOf(host),
    ports: new Map(ports.map((mapping) => [mapping.recorded, mapping.ports])),
    meters: new ApplicationMeters(samples.target(`${host}:${ports[0]?.ports[0] ?? 0}`)),
  }));

/** Each slot uses its own port when there are enough ports. */
export const portOn = ({ ports }: ReplayTarget, recorded: number, slot: number): number => {
  const own = ports.get(recorded) ?? [recorded];
  return own[slot % own.length] as number;
};

const discardPort = 9;

/** The source address the kernel would choose for a destination; nothing is sent. */
export const sourceTo = async (address: string): Promise<string> => {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    socket.connect(discardPort, address);
    await once(socket, 'connect');
    return socket.address().address;
  } finally {
    socket.close();
  }
};

/** Time parameters at this moment. */
export const timesNow = (): LocalValues => {
  const now = new Date();
  return { nowUnix: String(Math.floor(now.getTime() / 1000)), nowIso: now.toISOString() };
};
