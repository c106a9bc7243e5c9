import { be16, bytesOf, type Entry, type Family, jndiLookup, le16, le32, type Weakness } from './signature-table.ts';

const entry = (name: string, bytes: Buffer, weakness: Weakness): Entry => ({ name, bytes, ...weakness });
const weak = { category: 'protocol-anomaly', cwe: 'CWE-327' } as const;
const odd = { category: 'protocol-anomaly', cwe: 'CWE-20' } as const;

interface Hello {
  readonly version?: number;
  readonly suites?: readonly number[];
  readonly compression?: readonly number[];
  readonly extensions?: readonly Buffer[];
}
const extension = (type: number, content: Buffer) => bytesOf(be16(type), be16(content.length), content);
const serverName = (name: string) => extension(0, bytesOf(be16(name.length + 3), 0, be16(name.length), name));
const suitesOfToday = [0x1301, 0x1302, 0xc02f, 0xc030];

const record = (type: number, version: number, content: Buffer) =>
  bytesOf(type, be16(version), be16(content.length), content);

const hello = ({
  version = 0x0303,
  suites = suitesOfToday,
  compression = [0],
  extensions = [serverName('www.test')],
}: Hello) => {
  const all = Buffer.concat(extensions);
  const body = bytesOf(
    ...[be16(version), Buffer.alloc(32, 7), 0, be16(suites.length * 2), ...suites.map(be16)],
    ...[compression.length, ...compression, be16(all.length), all],
  );
  return record(22, version > 0x0301 ? 0x0301 : version, bytesOf(1, 0, be16(body.length), body));
};

/** Cipher suites that no client should offer any more. */
const oldSuites: readonly (readonly [string, readonly number[], string?])[] = [
  ['export ciphers', [0x0003, 0x0006, 0x0008], 'CVE-2015-0204'],
  ['export Diffie-Hellman', [0x0011, 0x0014], 'CVE-2015-4000'],
  ['ciphers that encrypt nothing', [0x0001, 0x0002, 0x003b]],
  ['anonymous ciphers', [0x0018, 0x001a, 0x0034]],
  ['RC4', [0x0004, 0x0005, 0xc011], 'CVE-2015-2808'],
  ['DES', [0x0009, 0x000c, 0x0012]],
  ['triple DES', [0x000a, 0x0016, 0xc012], 'CVE-2016-2183'],
  ['IDEA', [0x0007]],
];
const versions: readonly (readonly [string, number, string?])[] = [
  ['SSL 3.0', 0x0300, 'CVE-2014-3566'],
  ['TLS 1.0', 0x0301, 'CVE-2011-3389'],
  ['TLS 1.1', 0x0302],
];
const cveOf = (cve: string | undefined) => (cve === undefined ? {} : { cve });

const tls: Family = {
  ...{ family: 'tls', port: 443, transport: 'tcp', reference: 'https://www.rfc-editor.org/rfc/rfc8446' },
  answer: () => record(21, 0x0303, bytesOf(2, 40)),
  entries: [
    ...versions.map(([name, version, cve]) => entry(`${name} only`, hello({ version }), { ...weak, ...cveOf(cve) })),
    ...oldSuites.map(([name, suites, cve]) => entry(name, hello({ suites }), { ...weak, ...cveOf(cve) })),
    entry('compression', hello({ compression: [1, 0] }), { ...weak, cve: 'CVE-2012-4929' }),
    entry('the heartbeat extension', hello({ extensions: [extension(15, bytesOf(1))] }), {
      ...weak,
      cve: 'CVE-2014-0160',
    }),
    entry('a heartbeat before the handshake', record(24, 0x0302, bytesOf(1, be16(16), Buffer.alloc(32))), {
      ...{ category: 'info-leak', cwe: 'CWE-126', severity: 'critical', cve: 'CVE-2014-0160' },
    }),
    entry('a change of ciphers before the handshake', record(20, 0x0301, bytesOf(1)), { ...odd, cve: 'CVE-2014-0224' }),
    entry('a hidden fallback', hello({ version: 0x0301, suites: [...suitesOfToday, 0x5600] }), {
      ...odd,
      cve: 'CVE-2014-3566',
    }),
    entry('a renegotiation out of nothing', hello({ extensions: [extension(0xff01, bytesOf(12, Buffer.alloc(12)))] }), {
      ...{ ...odd, cve: 'CVE-2009-3555' },
    }),
    entry('no server name', hello({ extensions: [extension(23, Buffer.alloc(0))] }), odd),
    entry('a server name with a NUL byte', hello({ extensions: [serverName('www\0.test')] }), {
      ...odd,
      cwe: 'CWE-158',
    }),
    entry('a server name that is an address', hello({ extensions: [serverName('192.0.2.1')] }), odd),
    entry('an over-long server name', hello({ extensions: [serverName('a'.repeat(1000))] }), {
      ...odd,
      cwe: 'CWE-120',
    }),
    entry('a JNDI lookup as server name', hello({ extensions: [serverName(jndiLookup)] }), {
      ...{ category: 'rce', cwe: 'CWE-917', severity: 'critical', cve: 'CVE-2021-44228' },
    }),
    entry('the same extension twice', hello({ extensions: [serverName('a.test'), serverName('b.test')] }), odd),
  ],
};

/** The header of SMB2, with the direct TCP length before it. */
const smb2 = (command: number, body: Buffer, isAnswer = false, status = 0) => {
  const header = bytesOf(
    ...['\xfeSMB', le16(64), le16(0), le32(status), le16(command), le16(1), le32(isAnswer ? 1 : 0), le32(0)],
    ...[Buffer.alloc(8), le32(0), le32(0), Buffer.alloc(8), Buffer.alloc(16)],
  );
  return bytesOf(0, 0, be16(header.length + body.length), header, body);
};
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const connectTree = (share: string) => {
  const path = utf16(`\\\\server.test\\${share}`);
  return smb2(3, bytesOf(le16(9), le16(0), le16(72), le16(path.length), path));
};
const openFile = (name: string) => {
  const path = utf16(name);
  const fixed = bytesOf(
    ...[le16(57), 0, 0, le32(2), Buffer.alloc(16), le32(0x0012019f), le32(0), le32(7), le32(1), le32(0)],
    ...[le16(120), le16(path.length), le32(0), le32(0)],
  );
  return smb2(5, bytesOf(fixed, path));
};
const smb1 = (command: number, body: Buffer) => {
  const header = bytesOf(
    '\xffSMB',
    command,
    le32(0),
    0x18,
    le16(0xc007),
    Buffer.alloc(12),
    le16(0),
    le16(0xfeff),
    le32(1),
  );
  return bytesOf(0, 0, be16(header.length + body.length), header, body);
};
const dialects = (...names: string[]) => {
  const list = bytesOf(...names.flatMap((name) => [2, name, 0]));
  return smb1(0x72, bytesOf(0, le16(list.length), list));
};

/** Named pipes of services that attacks go on from. */
const pipes: readonly (readonly [string, string?])[] = [
  ['spoolss', 'CVE-2021-34527'],
  ['netlogon', 'CVE-2020-1472'],
  ['browser', 'CVE-2008-4250'],
  ['lsarpc', 'CVE-2021-36942'],
  ['samr'],
  ['svcctl'],
  ['atsvc'],
  ['winreg'],
  ['srvsvc'],
  ['wkssvc', 'CVE-2003-0812'],
  ['epmapper'],
  ['eventlog'],
];
const moving = { category: 'other', cwe: 'CWE-284', severity: 'high' } as const;

const smb: Family = {
  ...{ family: 'smb', port: 445, transport: 'tcp' },
  reference: 'https://learn.microsoft.com/openspecs/windows_protocols/ms-smb2/',
  answer: () => smb2(3, bytesOf(le16(9), 0, 0, le32(0), 0), true, 0xc0000022),
  entries: [
    ...['IPC$', 'ADMIN$', 'C$', 'D$', 'PRINT$', 'SYSVOL', 'NETLOGON', 'FAX$'].map((share) =>
      entry(`the share ${share}`, connectTree(share), moving),
    ),
    ...pipes.map(([pipe, cve]) => entry(`the pipe ${pipe}`, openFile(pipe), { ...moving, ...cveOf(cve) })),
    ...['psexesvc.exe', '..\\..\\windows\\win.ini', 'test.so'].map((name) =>
      entry(`the file ${name}`, openFile(name), { ...moving, cwe: 'CWE-22', category: 'path-traversal' }),
    ),
    entry('the first version of the protocol', dialects('NT LM 0.12'), { ...weak, cve: 'CVE-2017-0144' }),
    entry('dialects of LAN Manager', dialects('PC NETWORK PROGRAM 1.0', 'LANMAN1.0'), weak),
    entry('an over-long share', connectTree('A'.repeat(400)), { ...odd, cwe: 'CWE-120' }),
    entry('an over-long file', openFile('A'.repeat(600)), { ...odd, cwe: 'CWE-120' }),
  ],
};

export const tlsSmbFamilies: readonly Family[] = [tls, smb];
