import { createCipheriv, hash } from 'node:crypto';

interface SignIn {
  /** What the server says first. */
  readonly greeting: string;
  readonly sent: readonly string[];
  /** The replies of the server. */
  readonly answered: readonly string[];
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

const signIns: Readonly<Record<string, (user: string, password: string) => SignIn>> = {
  ftp: (user, password) => ({
    greeting: '220 server.example.test FTP server ready.',
    sent: [`USER ${user}`, `PASS ${password}`, 'QUIT'],
    answered: [`331 Password required for ${user}.`, '530 Login incorrect.', '221 Service closing control connection.'],
  }),
  pop3: (user, password) => ({
    greeting: '+OK POP3 server.example.test ready',
    sent: [`USER ${user}`, `PASS ${password}`, 'QUIT'],
    answered: ['+OK', '-ERR [AUTH] Invalid login', '+OK bye'],
  }),
  imap: (user, password) => ({
    greeting: '* OK [CAPABILITY IMAP4rev1] server.example.test ready',
    sent: [`a1 LOGIN "${user}" "${password}"`, 'a2 LOGOUT'],
    answered: ['a1 NO [AUTHENTICATIONFAILED] Invalid credentials', '* BYE logging out\r\na2 OK done'],
  }),
  smtp: (user, password) => ({
    greeting: '220 server.example.test ESMTP',
    sent: ['EHLO client.example.test', `AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, 'QUIT'],
    answered: [
      '250-server.example.test\r\n250 AUTH PLAIN',
      '535 5.7.8 Authentication credentials invalid',
      '221 2.0.0 Bye',
    ],
  }),
};

/** The sign-in of a client and its refusal by the server. Line ends are removed from names. */
export const signIn = (protocol: string, user: string, password: string): SignIn => {
  const plain = (text: string) => text.replace(/["\\\p{Cc}]/gu, '').slice(0, 200);
  return (signIns[protocol] ?? (signIns['ftp'] as (typeof signIns)[string]))(plain(user), plain(password));
};

const letters = 'abcdefghijklmnopqrstuvwxyz';
const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
const words = ['report', 'customer', 'ledger', 'quarter', 'contract', 'address', 'invoice', 'draft', 'meeting', 'plan'];

/** Pseudo-random bytes, equal for equal names. */
export const bytesOf = (name: string, length: number): Buffer =>
  createCipheriv('aes-256-ctr', hash('sha256', name, 'buffer'), Buffer.alloc(16)).update(Buffer.alloc(length));

/** A random word like those of domain generation algorithms. */
export const labelOf = (name: string, length: number): string =>
  [...bytesOf(name, length)].map((byte) => letters[byte % letters.length]).join('');

export const toBase32 = (bytes: Buffer): string => {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => base32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};

/** Random card numbers with a valid check digit, in groups. */
const cardLike = (name: string): string => {
  const digits = [9, 9, ...[...bytesOf(name, 13)].map((byte) => byte % 10)];
  const sum = digits.reduce((total, digit, i) => {
    const weighted = i % 2 === 0 ? digit * 2 : digit;
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return [...digits, (10 - (sum % 10)) % 10].join('').replace(/(\d{4})(?=\d)/g, '$1 ');
};

const linesOf = (length: number, lineOf: (n: number) => string): Buffer => {
  let text = '';
  for (let n = 0; text.length < length; n += 1) text += `${lineOf(n)}\n`;
  return Buffer.from(text.slice(0, length));
};

/** Data to exfiltrate: noise, sentences or card numbers. */
export const dataOf = (pattern: string, name: string, length: number): Buffer => {
  if (pattern === 'credit-card-like') return linesOf(length, (n) => `Robin Sample,${cardLike(`${name} ${n}`)},01/30`);
  if (pattern !== 'text') return bytesOf(name, length);
  return linesOf(length, (n) => [...bytesOf(`${name} ${n}`, 8)].map((byte) => words[byte % words.length]).join(' '));
};

const nameBytes = (qname: string) =>
  Buffer.concat([
    ...qname.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

/** A DNS query for an address, and its answer. */
export const dnsMessages = (qname: string) => {
  const question = Buffer.concat([nameBytes(qname), Buffer.from([0, 1, 0, 1])]);
  const header = (flags: number, answers: number) =>
    Buffer.from([0, 0, flags >> 8, flags & 255, 0, 1, 0, answers, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
  return {
    query: Buffer.concat([header(0x0100, 0), question]),
    answer: Buffer.concat([header(0x8180, 1), question, record]),
  };
};
