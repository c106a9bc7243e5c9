import { bytesOf, type Entry, type Family, jndiLookup, mailExpansion, type Weakness } from './signature-table.ts';

/** Arguments that give an attack away, whatever the command. */
const defects: readonly (Weakness & { readonly what: string; readonly text: string })[] = [
  { what: 'an over-long argument', text: 'A'.repeat(1100), cwe: 'CWE-120', category: 'other', severity: 'high' },
  { what: 'a format string', text: '%s%s%n%x', cwe: 'CWE-134', category: 'other', severity: 'high' },
  { what: 'a path out of its folder', text: '../../../../etc/passwd', cwe: 'CWE-22', category: 'path-traversal' },
  { what: 'a NUL byte', text: 'guest\0admin', cwe: 'CWE-158', category: 'protocol-anomaly' },
  { what: 'a shell command', text: '|id;`id`', cwe: 'CWE-78', category: 'command-injection', severity: 'high' },
  {
    ...{ what: 'a JNDI lookup', text: jndiLookup, cwe: 'CWE-917', category: 'rce' },
    ...{ severity: 'critical', cve: 'CVE-2021-44228' },
  },
];

const crossed = (commands: readonly string[], write: (command: string, text: string) => string): Entry[] =>
  commands.flatMap((command) =>
    defects.map(({ what, text, ...weakness }) => ({
      ...weakness,
      name: `${what} of ${command}`,
      bytes: bytesOf(write(command, text)),
    })),
  );

const line = (command: string, text: string) => `${command} ${text}\r\n`;
const rfc = (number: number) => `https://www.rfc-editor.org/rfc/rfc${number}`;

const ftp: Family = {
  ...{ family: 'ftp', port: 21, transport: 'tcp', reference: rfc(959) },
  answer: () => bytesOf('530 Please login with USER and PASS.\r\n'),
  entries: [
    ...crossed(['USER', 'PASS', 'CWD', 'LIST', 'RETR', 'STOR', 'SIZE', 'MDTM'], line),
    {
      ...{ name: 'the name of a backdoor', cwe: 'CWE-912', category: 'auth-bypass', severity: 'critical' },
      ...{ cve: 'CVE-2011-2523', bytes: bytesOf('USER guest:)\r\n') },
    },
    {
      ...{ name: 'a copy without login', cwe: 'CWE-284', category: 'auth-bypass', severity: 'critical' },
      ...{ cve: 'CVE-2015-3306', bytes: bytesOf('SITE CPFR /etc/hostname\r\n') },
    },
    {
      ...{ name: 'a bounce to another host', cwe: 'CWE-441', category: 'ssrf' },
      ...{ cve: 'CVE-1999-0017', bytes: bytesOf('PORT 192,0,2,1,0,25\r\n') },
    },
  ],
};

const smtp: Family = {
  ...{ family: 'smtp', port: 25, transport: 'tcp', reference: rfc(5321) },
  answer: () => bytesOf('550 5.7.1 refused\r\n'),
  entries: [
    ...crossed(['HELO', 'EHLO', 'VRFY', 'EXPN', 'AUTH'], line),
    ...crossed(['MAIL FROM', 'RCPT TO'], (command, text) => `${command}:<${text}@mail.test>\r\n`),
    {
      ...{ name: 'an expansion in the recipient', cwe: 'CWE-78', category: 'rce', severity: 'critical' },
      ...{ cve: 'CVE-2019-10149', bytes: bytesOf(`RCPT TO:<${mailExpansion}@mail.test>\r\n`) },
    },
  ],
};

const pop: Family = {
  ...{ family: 'pop', port: 110, transport: 'tcp', reference: rfc(1939) },
  answer: () => bytesOf('-ERR refused\r\n'),
  entries: crossed(['USER', 'PASS', 'APOP', 'TOP', 'RETR'], line),
};

const imap: Family = {
  ...{ family: 'imap', port: 143, transport: 'tcp', reference: rfc(9051) },
  answer: () => bytesOf('a1 NO refused\r\n'),
  entries: crossed(['LOGIN', 'SELECT', 'LIST', 'AUTHENTICATE'], (command, text) => `a1 ${command} ${text} x\r\n`),
};

const sipFields = ['From', 'To', 'Contact', 'Subject', 'User-Agent', 'Authorization'] as const;

/** An INVITE whose field has the text in the place of its own. */
const invite = (field: string, text: string): string => {
  const own: Record<string, string> = {
    From: '<sip:alice@client.test>;tag=1',
    To: '<sip:bob@server.test>',
    Contact: '<sip:alice@client.test>',
  };
  const value = field in own ? `<sip:${text}@client.test>` : text;
  const fields = Object.entries({ ...own, [field]: value }).map(([name, content]) => `${name}: ${content}\r\n`);
  return `INVITE sip:bob@server.test SIP/2.0\r\nVia: SIP/2.0/UDP client.test;branch=z9hG4bK1\r\n${fields.join('')}Call-ID: 1@client.test\r\nCSeq: 1 INVITE\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n`;
};

const sip: Family = {
  ...{ family: 'sip', port: 5060, transport: 'udp', reference: rfc(3261) },
  answer: () =>
    bytesOf(
      'SIP/2.0 403 Forbidden\r\nVia: SIP/2.0/UDP client.test;branch=z9hG4bK1\r\nCall-ID: 1@client.test\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n',
    ),
  entries: crossed(sipFields, invite),
};

const rtsp: Family = {
  ...{ family: 'rtsp', port: 554, transport: 'tcp', reference: rfc(2326) },
  answer: () => bytesOf('RTSP/1.0 400 Bad Request\r\nCSeq: 1\r\n\r\n'),
  entries: crossed(
    ['User-Agent', 'Transport', 'Authorization'],
    (field, text) => `SETUP rtsp://server.test/a RTSP/1.0\r\nCSeq: 1\r\n${field}: ${text}\r\n\r\n`,
  ),
};

export const textFamilies: readonly Family[] = [ftp, smtp, pop, imap, sip, rtsp];
