import { hash } from 'node:crypto';
import { type ClientHello, withoutGrease } from './client-hello.ts';

const VERSIONS = new Map([
  [0x0304, '13'],
  [0x0303, '12'],
  [0x0302, '11'],
  [0x0301, '10'],
  [0x0300, 's3'],
  [0x0002, 's2'],
]);
const SERVER_NAME = 0;
const ALPN = 16;

/** JA4 fingerprint of a TLS client over TCP. */
export function ja4Of(hello: ClientHello): string {
  const ciphers = withoutGrease(hello.ciphers);
  const extensions = withoutGrease(hello.extensions);
  const hashed = extensions.filter((type) => type !== SERVER_NAME && type !== ALPN);
  const algorithms = withoutGrease(hello.signatureAlgorithms).map(hex4).join(',');
  const tail = algorithms === '' ? sortedHex(hashed) : `${sortedHex(hashed)}_${algorithms}`;
  return [
    `t${versionOf(hello)}${hello.hasServerName ? 'd' : 'i'}${count2(ciphers)}${count2(extensions)}${alpnOf(hello.alpn)}`,
    ciphers.length === 0 ? '000000000000' : hash12(sortedHex(ciphers)),
    hashed.length === 0 ? '000000000000' : hash12(tail),
  ].join('_');
}

function versionOf(hello: ClientHello): string {
  const offered = withoutGrease(hello.supportedVersions);
  const version = offered.length > 0 ? Math.max(...offered) : hello.version;
  return VERSIONS.get(version) ?? '00';
}

/** First and last character; of the hexadecimal form when either is not alphanumeric. */
function alpnOf(protocol: string): string {
  if (protocol === '') return '00';
  const isPlain = /^[0-9A-Za-z]/.test(protocol) && /[0-9A-Za-z]$/.test(protocol);
  const text = isPlain ? protocol : Buffer.from(protocol, 'latin1').toString('hex');
  return `${text.at(0)}${text.at(-1)}`;
}

function count2(list: readonly number[]): string {
  return String(Math.min(99, list.length)).padStart(2, '0');
}

function hex4(value: number): string {
  return value.toString(16).padStart(4, '0');
}

function sortedHex(values: readonly number[]): string {
  return values.map(hex4).sort().join(',');
}

function hash12(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}

/** JA3 fingerprint of a TLS client. */
export function ja3Of(hello: ClientHello): string {
  return hash('md5', ja3TextOf(hello), 'hex');
}

function ja3TextOf(hello: ClientHello): string {
  const lists = [hello.ciphers, hello.extensions, hello.groups].map((list) => withoutGrease(list).join('-'));
  return [hello.version, ...lists, hello.pointFormats.join('-')].join(',');
}
