import { md4 } from '../../bytes/md5.ts';
import { desEncrypt } from './des.ts';
import { sha1 } from './sha1.ts';

const encoder = new TextEncoder();
const magic1 = encoder.encode('Magic server to client signing constant');
const magic2 = encoder.encode('Pad to make it do more than one iteration');

const utf16 = (text: string): Uint8Array => {
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), true);
  return new Uint8Array(view.buffer);
};

/** Challenges of both sides and who asks to be let in. */
export interface MsChapExchange {
  readonly authenticatorChallenge: Uint8Array;
  readonly peerChallenge: Uint8Array;
  /** Without a domain before it. */
  readonly userName: string;
  readonly password: string;
}

const challengeHash = ({ authenticatorChallenge, peerChallenge, userName }: MsChapExchange): Uint8Array =>
  sha1(peerChallenge, authenticatorChallenge, encoder.encode(userName)).subarray(0, 8);

/** The 24 bytes of the response of MS-CHAPv2 (RFC 2759). */
export const msChapResponse = (exchange: MsChapExchange): Uint8Array => {
  const challenge = challengeHash(exchange);
  const keys = new Uint8Array(21);
  keys.set(md4(utf16(exchange.password)));
  const response = new Uint8Array(24);
  for (let i = 0; i < 3; i++) response.set(desEncrypt(keys.subarray(i * 7, i * 7 + 7), challenge), i * 8);
  return response;
};

/** The text `S=…` by which the authenticator proves that it knows the password. */
export const msChapSuccess = (exchange: MsChapExchange, response: Uint8Array): string => {
  const digest = sha1(md4(md4(utf16(exchange.password))), response, magic1);
  const proof = sha1(digest, challengeHash(exchange), magic2);
  return `S=${Array.from(proof, (byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join('')}`;
};
