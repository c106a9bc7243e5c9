import { be16, bytesOf, type Entry, type Family, le16, le32, type Weakness } from './signature-table.ts';

const anomaly = { category: 'protocol-anomaly' } as const;
const leak = { category: 'info-leak' } as const;
const bypass = { category: 'auth-bypass', severity: 'high' } as const;
const rfc = (number: number) => `https://www.rfc-editor.org/rfc/rfc${number}`;
const entry = (name: string, bytes: Buffer, weakness: Weakness): Entry => ({ name, bytes, ...weakness });

const labels = (name: string) =>
  bytesOf(...name.split('.').flatMap((label) => [label.length, label]), ...(name === '' ? [] : [0]));
interface Question {
  readonly type?: number;
  readonly class?: number;
  readonly flags?: number;
  readonly name?: Buffer;
  readonly count?: number;
}
const query = ({ type = 1, class: ofClass = 1, flags = 0x0100, name = labels('www.test'), count = 1 }: Question) =>
  bytesOf(be16(0x5248), be16(flags), be16(count), Buffer.alloc(6), name, be16(type), be16(ofClass));

/** Types of questions that clients have no reason to ask. */
const oddTypes: readonly (readonly [string, number, string, string?])[] = [
  ['ANY', 255, 'CWE-406'],
  ['AXFR', 252, 'CWE-200'],
  ['IXFR', 251, 'CWE-200'],
  ['MAILB', 253, 'CWE-200'],
  ['MAILA', 254, 'CWE-200'],
  ['TKEY', 249, 'CWE-617', 'CVE-2015-5477'],
  ['TSIG', 250, 'CWE-617', 'CVE-2016-2776'],
  ['SIG', 24, 'CWE-190', 'CVE-2020-1350'],
  ['NULL', 10, 'CWE-200'],
  ['HINFO', 13, 'CWE-200'],
  ['WKS', 11, 'CWE-200'],
  ['NSEC', 47, 'CWE-200'],
  ['RRSIG', 46, 'CWE-406'],
  ['DNSKEY', 48, 'CWE-406'],
];
const kinds: readonly (readonly [string, Question])[] = [
  ['an inverse query', { flags: 0x0900 }],
  ['a status query', { flags: 0x1100 }],
  ['a notification', { flags: 0x2000 }],
  ['an update', { flags: 0x2800 }],
  ['a reserved bit', { flags: 0x0140 }],
  ['the bit of an answer', { flags: 0x8180 }],
  ['a count of two questions', { count: 2 }],
  ['a count of no question', { count: 0 }],
  ['a name that points to itself', { name: bytesOf(0xc0, 0x0c) }],
  ['an unknown class', { class: 0x7777 }],
  ['a name of maximal length', { name: labels([1, 2, 3].map((i) => `${i}`.repeat(63)).join('.')) }],
];
const dns: Family = {
  ...{ family: 'dns', port: 53, transport: 'udp', reference: rfc(1035) },
  answer: (request) => bytesOf(request.subarray(0, 2), be16(0x8185), request.subarray(4)),
  entries: [
    ...oddTypes.map(([name, type, cwe, cve]) =>
      entry(`a question for ${name}`, query({ type }), { ...leak, cwe, ...(cve !== undefined && { cve }) }),
    ),
    ...['version.bind', 'hostname.bind', 'authors.bind', 'id.server'].map((name) =>
      entry(`a question for ${name}`, query({ name: labels(name), class: 3, type: 16 }), { ...leak, cwe: 'CWE-200' }),
    ),
    ...kinds.map(([name, question]) => entry(name, query(question), { ...anomaly, cwe: 'CWE-20' })),
  ],
};

const modbusFrame = (unit: number, pdu: Buffer, { protocol = 0, length = pdu.length + 1 } = {}) =>
  bytesOf(be16(1), be16(protocol), be16(length), unit, pdu);
const modbusFunctions: readonly (readonly [string, Buffer])[] = [
  ['a write of one coil', bytesOf(5, be16(0), be16(0xff00))],
  ['a write of one register', bytesOf(6, be16(0), be16(1))],
  ['a write of many coils', bytesOf(15, be16(0), be16(8), 1, 0xff)],
  ['a write of many registers', bytesOf(16, be16(0), be16(1), 2, be16(1))],
  ['a masked write', bytesOf(22, be16(0), be16(0xffff), be16(0))],
  ['a read and write at once', bytesOf(23, be16(0), be16(1), be16(0), be16(1), 2, be16(1))],
  ['a restart of communication', bytesOf(8, be16(1), be16(0))],
  ['a change of the delimiter', bytesOf(8, be16(3), be16(0x0a00))],
  ['an order to listen only', bytesOf(8, be16(4), be16(0))],
  ['a clearing of counters', bytesOf(8, be16(10), be16(0))],
  ['a read of exception status', bytesOf(7)],
  ['a read of the event counter', bytesOf(11)],
  ['a read of the event log', bytesOf(12)],
  ['a question for the identity of the server', bytesOf(17)],
  ['a question for the identity of the device', bytesOf(43, 14, 1, 0)],
  ['a read of a queue', bytesOf(24, be16(0))],
  ['a scan of coils', bytesOf(1, be16(0), be16(2000))],
  ['a scan of inputs', bytesOf(2, be16(0), be16(2000))],
  ['a scan of registers', bytesOf(3, be16(0), be16(125))],
  ['a scan of input registers', bytesOf(4, be16(0), be16(125))],
  ['more registers than there can be', bytesOf(3, be16(0), be16(0xffff))],
  ['an address beyond the last', bytesOf(3, be16(0xffff), be16(100))],
];
const modbus: Family = {
  ...{ family: 'modbus', port: 502, transport: 'tcp', reference: 'https://www.modbus.org/specs.php' },
  answer: (request) => modbusFrame(request[6] ?? 1, bytesOf((request[7] ?? 0) | 0x80, 1)),
  entries: [
    ...modbusFunctions.map(([name, pdu]) => entry(name, modbusFrame(1, pdu), { ...bypass, cwe: 'CWE-306' })),
    ...modbusFunctions
      .slice(0, 5)
      .map(([name, pdu]) => entry(`${name} of all units`, modbusFrame(0, pdu), { ...bypass, cwe: 'CWE-306' })),
  ],
};

const element = (tag: number, ...content: (number | string | Buffer)[]): Buffer => {
  const body = bytesOf(...content);
  return bytesOf(tag, body.length, body);
};
const oid = bytesOf(0x2b, 6, 1, 2, 1, 1, 1, 0);
const snmpMessage = (version: number, community: string, pdu: number, [second, third] = [0, 0]) => {
  const binding = element(0x30, element(6, oid), element(5));
  const numbers = [element(2, 1), element(2, second), element(2, third)];
  return element(0x30, element(2, version), element(4, community), element(pdu, ...numbers, element(0x30, binding)));
};
const snmp: Family = {
  ...{ family: 'snmp', port: 161, transport: 'udp', reference: rfc(3416) },
  answer: () => snmpMessage(1, 'public', 0xa2, [16, 0]),
  entries: [
    ...['public', 'private', 'admin', 'manager', 'cisco', 'ilmi', 'secret', 'monitor'].map((community) =>
      entry(`the community ${community}`, snmpMessage(0, community, 0xa0), { ...leak, cwe: 'CWE-1392' }),
    ),
    entry('a write with a common community', snmpMessage(1, 'private', 0xa3), { ...bypass, cwe: 'CWE-1392' }),
    entry('a request for very many values', snmpMessage(1, 'public', 0xa5, [0, 127]), { ...leak, cwe: 'CWE-406' }),
    entry('an over-long community', snmpMessage(1, 'A'.repeat(90), 0xa0), { ...anomaly, cwe: 'CWE-120' }),
  ],
};

const tftpRequest = (operation: number, file: string, mode = 'octet') => bytesOf(0, operation, file, 0, mode, 0);
const tftpFiles = ['startup-config', 'running-config', '../../../../etc/passwd', 'boot.ini', 'SEP001122334455.cnf.xml'];
const tftp: Family = {
  ...{ family: 'tftp', port: 69, transport: 'udp', reference: rfc(1350) },
  answer: () => bytesOf(0, 5, 0, 2, 'refused', 0),
  entries: [
    ...tftpFiles.map((file) => entry(`a read of ${file}`, tftpRequest(1, file), { ...leak, cwe: 'CWE-22' })),
    ...tftpFiles
      .slice(0, 2)
      .map((file) => entry(`a write of ${file}`, tftpRequest(2, file), { ...bypass, cwe: 'CWE-306' })),
    entry('an over-long name', tftpRequest(1, 'A'.repeat(400)), { ...anomaly, cwe: 'CWE-120', severity: 'high' }),
    entry('an over-long mode', tftpRequest(1, 'a', 'B'.repeat(400)), { ...anomaly, cwe: 'CWE-120', severity: 'high' }),
  ],
};

const ntp: Family = {
  ...{ family: 'ntp', port: 123, transport: 'udp', reference: rfc(5905) },
  answer: (request) => bytesOf((request[0] ?? 0) | 0x80, request.subarray(1)),
  entries: [
    entry('a list of clients', bytesOf(0x17, 0, 3, 0x2a, Buffer.alloc(4)), {
      ...leak,
      cwe: 'CWE-406',
      cve: 'CVE-2013-5211',
    }),
    entry('a list of peers', bytesOf(0x17, 0, 3, 0, Buffer.alloc(4)), { ...leak, cwe: 'CWE-406' }),
    entry('a question for the state of the system', bytesOf(0x17, 0, 3, 4, Buffer.alloc(4)), {
      ...leak,
      cwe: 'CWE-200',
    }),
    entry('a read of variables', bytesOf(0x16, 2, be16(1), Buffer.alloc(8)), { ...leak, cwe: 'CWE-200' }),
  ],
};

/** A request for a connection; routing tokens name the account. */
const rdpRequest = (cookie: string, protocols: number) => {
  const body = bytesOf(0xe0, be16(0), be16(0), 0, cookie, 1, 0, le16(8), le32(protocols));
  return bytesOf(3, 0, be16(body.length + 5), body.length, body);
};
const rdp: Family = {
  ...{ family: 'rdp', port: 3389, transport: 'tcp' },
  reference: 'https://learn.microsoft.com/openspecs/windows_protocols/ms-rdpbcgr/',
  answer: () => {
    const body = bytesOf(0xd0, be16(0), be16(0x1234), 0, 3, 0, le16(8), le32(5));
    return bytesOf(3, 0, be16(body.length + 5), body.length, body);
  },
  entries: [
    ...['administrator', 'admin', 'guest', 'test', 'user', 'root'].map((account) =>
      entry(`the account ${account}`, rdpRequest(`Cookie: mstshash=${account}\r\n`, 3), {
        ...{ category: 'scanner', cwe: 'CWE-307' },
      }),
    ),
    entry('security that is long broken', rdpRequest('', 0), { ...bypass, cwe: 'CWE-327', cve: 'CVE-2019-0708' }),
    entry('an over-long cookie', rdpRequest(`Cookie: mstshash=${'A'.repeat(200)}\r\n`, 1), {
      ...anomaly,
      cwe: 'CWE-120',
    }),
  ],
};

export const binaryFamilies: readonly Family[] = [dns, modbus, snmp, tftp, ntp, rdp];
