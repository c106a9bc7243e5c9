import { flag, ipv4, secretText, section, text, whole } from './field.ts';

/** The RADIUS server behind a gateway or an authenticator. */
export const radiusServer = section('RADIUS server (RFC 2865, 2866, 3579), for the decision radius', {
  address: ipv4('Address', '192.0.2.10'),
  port: whole('Port of authentication', 1812, [1, 65_535]),
  secret: secretText('Secret shared with it'),
  timeoutSec: whole('Wait for an answer before asking again', 3, [1, 60]),
  attempts: whole('Requests before giving up', 3, [1, 10]),
  nasIdentifier: text('NAS-Identifier of requests', 'rushhour', 64),
  accounting: flag('Send accounting'),
  accountingPort: whole('Port of accounting', 1813, [1, 65_535]),
  interimSec: whole('Time between interim records, unless the server says another; 0 for none', 600, [0, 86_400]),
});
