import type { ExchangeProtocol } from '@rushhour/protocol';
import type { ProtocolDriver } from '../driver.ts';
import { attemptHttp } from './http/http-client.ts';
import { proveHttp } from './http/http-proof.ts';
import { listenHttp } from './http/http-server.ts';
import { ftpDriver } from './lines/ftp.ts';
import { imapDriver } from './lines/imap.ts';
import { pop3Driver } from './lines/pop3.ts';
import { smtpDriver } from './lines/smtp.ts';
import { dnsDriver } from './raw/dns.ts';
import { icmpDriver } from './raw/icmp.ts';
import { attemptRaw, proveRaw } from './raw/raw-client.ts';
import { listenRaw } from './raw/raw-server.ts';

/** Raw bytes over TCP, TLS or UDP. */
const rawDriver: ProtocolDriver = {
  protocols: ['raw'],
  attempt: attemptRaw,
  prove: proveRaw,
  listen: listenRaw,
};

/** HTTP/1 and HTTP/2. HTTP/1 is written byte by byte: requests may be malformed. */
const httpDriver: ProtocolDriver = {
  protocols: ['http'],
  attempt: attemptHttp,
  prove: proveHttp,
  listen: listenHttp,
};

/** All protocols of attempts. To add one, add a file and a line here. */
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
  if (driver === undefined) throw new Error(`${protocol} is not supported by this agent`);
  return driver;
};
