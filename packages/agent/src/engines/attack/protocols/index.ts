import type { ExchangeProtocol } from '@rushhour/protocol';
import type { ProtocolDriver } from '../driver.ts';
import { dnsDriver } from './dns.ts';
import { ftpDriver } from './ftp.ts';
import { httpDriver } from './http.ts';
import { icmpDriver } from './icmp.ts';
import { imapDriver } from './imap.ts';
import { pop3Driver } from './pop3.ts';
import { rawDriver } from './raw.ts';
import { smtpDriver } from './smtp.ts';

/** Every protocol attempts can be carried by. Adding one is adding a file and a line here. */
const drivers: readonly ProtocolDriver[] = [
  dnsDriver,
  ftpDriver,
  httpDriver,
  icmpDriver,
  imapDriver,
  pop3Driver,
  rawDriver,
  smtpDriver,
];

const byProtocol = new Map(
  drivers.flatMap((driver) => driver.protocols.map((protocol) => [protocol, driver] as const)),
);

export const driverFor = (protocol: ExchangeProtocol): ProtocolDriver => {
  const driver = byProtocol.get(protocol);
  if (driver === undefined) throw new Error(`${protocol} is not carried by this agent`);
  return driver;
};
