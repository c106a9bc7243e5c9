import { ber, berInteger, berText, hex, noise, type Part, sized16, sizeOf, u8, u16, u24, u32, zeros } from './bytes.ts';
import { drawn16, drawn32, field } from './field.ts';
import { host, request, response } from './http-messages.ts';
import { type LibraryApplication, tcp, udp } from './script.ts';

const id = drawn16('transaction', 'Number of the query');
const labels = (name: string): Part => [name.split('.').map((label) => [u8(label.length), label]), u8(0)];
const question = (name: string, type: number): Part => [labels(name), u16(type), u16(1)];
const query = (number: Part, name: string, type: number): Part => [
  number,
  hex('01000001000000000000'),
  question(name, type),
];
const answer = (number: Part, name: string, type: number, data: Part): Part => [
  ...[number, hex('81800001000100000000'), question(name, type), hex('c00c'), u16(type), u16(1), u32(300)],
  sized16(data),
];

const dns = udp(53);
export const nameLookup: LibraryApplication = {
  name: 'Name lookup (DNS)',
  description: 'The IPv4 and IPv6 addresses of a name.',
  tags: 'library,infrastructure,dns',
  recognisedAs: 'dns',
  steps: [
    dns.client(query(id, 'www.shop.test', 1)),
    dns.server(answer(id, 'www.shop.test', 1, u8(192, 0, 2, 10))),
    dns.client(query(id, 'www.shop.test', 28)),
    dns.server(answer(id, 'www.shop.test', 28, hex('20010db8000000000000000000000010'))),
  ],
};

const dnsTcp = tcp(53);
const texts = Array.from({ length: 8 }, (_, index) => [u8(200), noise(200, index + 1).map((byte) => 97 + (byte % 26))]);
export const nameLookupTcp: LibraryApplication = {
  name: 'Name lookup over TCP (DNS)',
  description: 'A long answer of 1.6 KB over TCP.',
  tags: 'library,infrastructure,dns',
  recognisedAs: 'dns',
  steps: [
    dnsTcp.client(sized16(query(id, 'big.shop.test', 16))),
    dnsTcp.server(sized16(answer(id, 'big.shop.test', 16, texts))),
  ],
};

const web = tcp(80);
const dnsMessage = (...body: Part[]) => ({ type: 'application/dns-message', body });
export const nameLookupHttp: LibraryApplication = {
  name: 'Name lookup over HTTP (DoH message)',
  description: 'A DNS message in an HTTP request, as DNS over HTTPS sends it inside TLS.',
  tags: 'library,infrastructure,dns',
  recognisedAs: 'dns',
  steps: [
    web.client(request('POST', '/dns-query', host('doh.test'), dnsMessage(query(u16(0), 'www.shop.test', 1)))),
    web.server(response('200 OK', dnsMessage(answer(u16(0), 'www.shop.test', 1, u8(192, 0, 2, 10))))),
  ],
};

const mdns = udp(5353);
export const serviceDiscovery: LibraryApplication = {
  name: 'Service discovery (mDNS)',
  description: 'A printer is looked for in the local network.',
  tags: 'library,infrastructure,device',
  recognisedAs: 'mdns',
  steps: [
    mdns.client(zeros(4), hex('0001000000000000'), question('_ipp._tcp.local', 12)),
    mdns.server(
      zeros(2),
      hex('84000000000100000000'),
      labels('_ipp._tcp.local'),
      u16(12),
      u16(1),
      u32(120),
      sized16(labels('printer.local')),
    ),
  ],
};

const ntp = udp(123);
const stamp = hex('e8f0b2c4 80000000');
export const timeSync: LibraryApplication = {
  name: 'Time (NTP)',
  description: 'A client asks for the time.',
  tags: 'library,infrastructure',
  recognisedAs: 'ntp',
  steps: [
    ntp.client(hex('230006ec'), zeros(36), stamp),
    ntp.server(hex('240206ec 00000100 00000200 c0000201'), stamp, stamp, stamp, stamp),
  ],
};

const snmp = udp(161);
const varbind = (value: Part): Part => ber(0x30, ber(0x30, ber(6, hex('2b06010201010300')), value));
const pdu = (tag: number, value: Part): Part =>
  ber(
    0x30,
    berInteger(1),
    berText(field('community', 'public', 'Community of the device')),
    ber(tag, berInteger(77), berInteger(0), berInteger(0), varbind(value)),
  );
export const deviceMonitoring: LibraryApplication = {
  name: 'Device monitoring (SNMP)',
  description: 'The uptime of a device is read.',
  tags: 'library,infrastructure,monitoring',
  recognisedAs: 'snmp',
  steps: [snmp.client(pdu(0xa0, hex('0500'))), snmp.server(pdu(0xa2, ber(0x43, u24(100_000))))],
};

const syslog = udp(514);
const deviceName = field('device', 'fw1', 'Name of the sender');
export const logging: LibraryApplication = {
  name: 'Logging (syslog)',
  description: 'Five messages of a device.',
  tags: 'library,infrastructure,monitoring',
  recognisedAs: 'syslog',
  steps: [1, 2, 3, 4, 5].map((number) =>
    syslog.client('<134>1 2024-05-01T12:00:00Z ', deviceName, ` filter 42 - - session ${number} permitted`),
  ),
};

const flows = udp(2055);
export const flowExport: LibraryApplication = {
  name: 'Flow export (NetFlow v5)',
  description: 'A router reports ten flows.',
  tags: 'library,infrastructure,monitoring',
  recognisedAs: 'cflow',
  steps: [
    flows.client(
      ...[
        u16(5),
        u16(10),
        u32(3_600_000),
        u32(1_700_000_000),
        u32(0),
        drawn32('sequence', 'Number of the report'),
        u32(0),
      ],
      ...Array.from({ length: 10 }, (_, index) => [
        ...[u8(10, 1, 0, index), u8(10, 2, 0, 1), zeros(4), u16(1), u16(2), u32(12), u32(9000), u32(3_500_000)],
        ...[u32(3_590_000), u16(40_000), u16(80), u8(0, 0x1b, 6, 0), zeros(8)],
      ]),
    ),
  ],
};

const radius = udp(1812);
const attribute = (type: number, ...parts: Part[]): Part => [u8(type, sizeOf(...parts) + 2), ...parts];
const radiusMessage = (code: number, ...attributes: Part[]): Part => [
  ...[u8(code, 9), u16(20 + sizeOf(...attributes)), noise(16, code), ...attributes],
];
export const networkLogin: LibraryApplication = {
  name: 'Network login (RADIUS)',
  description: 'A user signs in to the network.',
  tags: 'library,infrastructure,identity',
  recognisedAs: 'radius',
  steps: [
    radius.client(
      radiusMessage(
        1,
        attribute(1, field('user', 'anna', 'Name of the user')),
        attribute(2, noise(16, 30)),
        attribute(4, u8(192, 0, 2, 1)),
      ),
    ),
    radius.server(radiusMessage(2, attribute(6, u32(2)), attribute(8, u8(192, 0, 2, 77)))),
  ],
};

const accounting = udp(1813);
export const networkAccounting: LibraryApplication = {
  name: 'Network accounting (RADIUS)',
  description: 'The start of a session is reported.',
  tags: 'library,infrastructure,identity',
  recognisedAs: 'radius',
  steps: [
    accounting.client(
      radiusMessage(
        4,
        attribute(40, u32(1)),
        attribute(1, field('user', 'anna', 'Name of the user')),
        attribute(44, '00000012'),
      ),
    ),
    accounting.server(radiusMessage(5)),
  ],
};

const tacacs = tcp(49);
const tacacsMessage = (sequence: number, ...body: Part[]): Part => [
  ...[u8(0xc0, 1, sequence, 1), hex('0a0b0c0d'), u32(sizeOf(...body)), ...body],
];
export const deviceLogin: LibraryApplication = {
  name: 'Device login (TACACS+)',
  description: 'An administrator signs in to a device.',
  tags: 'library,infrastructure,identity',
  recognisedAs: 'tacplus',
  steps: [
    tacacs.client(tacacsMessage(1, u8(1, 1, 1, 1, 5, 4, 9, 0), 'admin', 'tty0', '192.0.2.1')),
    tacacs.server(tacacsMessage(2, u8(5, 1, 0, 10, 0, 0), 'Password: ')),
    tacacs.client(tacacsMessage(3, u8(0, 6, 0, 0, 0), 'secret')),
    tacacs.server(tacacsMessage(4, u8(1, 0, 0, 0, 0, 0))),
  ],
};

const diameter = tcp(3868);
const avp = (code: number, ...parts: Part[]): Part => {
  const size = sizeOf(...parts);
  return [u32(code), u8(0x40), u24(size + 8), ...parts, zeros(-size & 3)];
};
const capabilities = (flags: number, ...avps: Part[]): Part => [
  ...[u8(1), u24(20 + sizeOf(...avps)), u8(flags), u24(257), u32(0), u32(7), u32(9), ...avps],
];
const peer = (name: string): Part => [
  ...[
    avp(264, `${name}.test`),
    avp(296, 'test'),
    avp(257, u16(1), u8(192, 0, 2, 1)),
    avp(266, u32(0)),
    avp(269, 'Peer'),
  ],
];
export const mobilePolicy: LibraryApplication = {
  name: 'Mobile policy (Diameter)',
  description: 'Two nodes exchange their capabilities.',
  tags: 'library,mobile,identity',
  recognisedAs: 'diameter',
  steps: [
    diameter.client(capabilities(0x80, peer('client'))),
    diameter.server(capabilities(0, avp(268, u32(2001)), peer('server'))),
  ],
};

const ldap = tcp(389);
const ldapMessage = (number: number, ...parts: Part[]): Part => ber(0x30, berInteger(number), ...parts);
const result = (tag: number): Part => ber(tag, ber(0x0a, u8(0)), berText(''), berText(''));
const entry = ber(0x64, berText('uid=anna,dc=test'), ber(0x30, ber(0x30, berText('cn'), ber(0x31, berText('Anna')))));
export const directory: LibraryApplication = {
  name: 'Directory (LDAP)',
  description: 'A service signs in and looks up a person.',
  tags: 'library,identity,enterprise',
  recognisedAs: 'ldap',
  steps: [
    ldap.client(ldapMessage(1, ber(0x60, berInteger(3), berText('cn=app,dc=test'), berText('secret', 0x80)))),
    ldap.server(ldapMessage(1, result(0x61))),
    ldap.client(
      ldapMessage(
        2,
        ber(
          0x63,
          berText('dc=test'),
          ber(0x0a, u8(2)),
          ber(0x0a, u8(0)),
          berInteger(10),
          berInteger(5),
          ber(1, u8(0)),
          ber(0xa3, berText('uid'), berText(field('user', 'anna', 'Name of the person'))),
          ber(0x30, berText('cn')),
        ),
      ),
    ),
    ldap.server(ldapMessage(2, entry), ldapMessage(2, result(0x65))),
    ldap.client(ldapMessage(3, hex('4200'))),
  ],
};

const kerberos = udp(88);
const general = (text: string): Part => ber(0x1b, text);
const principal = (type: number, ...names: string[]): Part =>
  ber(0x30, ber(0xa0, berInteger(type)), ber(0xa1, ber(0x30, ...names.map(general))));
const kdcBody = ber(
  0x30,
  ber(0xa0, ber(3, hex('0040800010'))),
  ber(0xa1, principal(1, 'anna')),
  ber(0xa2, general('EXAMPLE.TEST')),
  ber(0xa3, principal(2, 'krbtgt', 'EXAMPLE.TEST')),
  ber(0xa5, ber(0x18, '20370913024805Z')),
  ber(0xa7, ber(2, hex('1a2b3c4d'))),
  ber(0xa8, ber(0x30, berInteger(18))),
);
const krbError = ber(
  0x30,
  ber(0xa0, berInteger(5)),
  ber(0xa1, berInteger(30)),
  ber(0xa4, ber(0x18, '20240501120000Z')),
  ber(0xa5, berInteger(1)),
  ber(0xa6, berInteger(25)),
  ber(0xa9, general('EXAMPLE.TEST')),
  ber(0xaa, principal(2, 'krbtgt', 'EXAMPLE.TEST')),
);
export const domainLogin: LibraryApplication = {
  name: 'Domain login (Kerberos)',
  description: 'A ticket is asked for; the server wants pre-authentication.',
  tags: 'library,identity,enterprise',
  recognisedAs: 'kerberos',
  steps: [
    kerberos.client(ber(0x6a, ber(0x30, ber(0xa1, berInteger(5)), ber(0xa2, berInteger(10)), ber(0xa4, kdcBody)))),
    kerberos.server(ber(0x7e, krbError)),
  ],
};

const netbios = udp(137);
const encoded = (name: string): Part => [
  u8(32),
  [...name.padEnd(16, ' ')].map((letter) => {
    const code = letter.charCodeAt(0);
    return String.fromCharCode(65 + (code >> 4), 65 + (code & 15));
  }),
  u8(0),
];
export const windowsNames: LibraryApplication = {
  name: 'Windows names (NetBIOS)',
  description: 'A name is looked up by NetBIOS.',
  tags: 'library,infrastructure,enterprise',
  recognisedAs: 'nbns',
  steps: [
    netbios.client(id, hex('01000001000000000000'), encoded('FILES'), u16(32), u16(1)),
    netbios.server(
      id,
      hex('85800000000100000000'),
      encoded('FILES'),
      u16(32),
      u16(1),
      u32(300),
      sized16(u16(0), u8(192, 0, 2, 20)),
    ),
  ],
};

const whois = tcp(43);
export const domainQuery: LibraryApplication = {
  name: 'Domain query (WHOIS)',
  description: 'The owner of a domain is asked for.',
  tags: 'library,infrastructure',
  recognisedAs: 'whois',
  steps: [
    whois.client(field('domain', 'shop.test', 'Name of the domain'), '\r\n'),
    whois.server('Domain: SHOP.TEST\r\nRegistrar: Example Registrar\r\n'),
  ],
};

const upnp = udp(1900);
export const deviceSearch: LibraryApplication = {
  name: 'Device search (SSDP)',
  description: 'Devices of the local network are looked for.',
  tags: 'library,infrastructure,device',
  recognisedAs: 'ssdp',
  steps: [
    upnp.client(
      'M-SEARCH * HTTP/1.1\r\nHost: 239.255.255.250:1900\r\nMAN: "ssdp:discover"\r\nMX: 1\r\nST: ssdp:all\r\n\r\n',
    ),
    upnp.server(
      'HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\nUSN: uuid:1::upnp:rootdevice\r\nLocation: http://192.0.2.9/d.xml\r\n\r\n',
    ),
  ],
};
