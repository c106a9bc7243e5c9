import type { ExchangeProtocol } from '@rushhour/protocol';
import type { ProtocolDriver } from '../driver.ts';
import { dnsDriver } from './dns.ts';
import { httpDriver } from './http.ts';
import { rawDriver } from './raw.ts';

/** Every protocol attempts can be carried by. Adding one is adding a file and a line here. */
const drivers: readonly ProtocolDriver[] = [dnsDriver, httpDriver, rawDriver];

const byProtocol = new Map(
  drivers.flatMap((driver) => driver.protocols.map((protocol) => [protocol, driver] as const)),
);

export const driverFor = (protocol: ExchangeProtocol): ProtocolDriver => {
  const driver = byProtocol.get(protocol);
  if (driver === undefined) throw new Error(`${protocol} is not carried by this agent`);
  return driver;
};
