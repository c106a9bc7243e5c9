import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { GeneralName } from '@peculiar/asn1-x509';
import { CertificateError } from '../certificate-error.ts';
import { distinguishedNameOf } from './distinguished-name.ts';

const prefix = /^(DNS|IP|email|URI):/i;
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const hostName = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`, 'i');
const email = /^[\x21-\x3f\x41-\x7e]{1,64}@[a-z0-9.-]{1,253}$/i;
const maxNames = 10_000;

/** Names as users write them: `www.example.test`, `10.0.0.1`, `a@example.test`, `https://…`, or with a prefix `DNS:`, `IP:`, `email:`, `URI:`. */
export function parseAlternativeNames(names: readonly string[]): GeneralName[] {
  if (names.length > maxNames) {
    throw new CertificateError('BAD_SAN', '/generate/san', `more than ${maxNames} alternative names`);
  }
  return names.map((name, i) => {
    const parsed = findAlternativeName(name.trim());
    if (!parsed) {
      const shown = JSON.stringify(name.slice(0, 100));
      throw new CertificateError('BAD_SAN', `/generate/san/${i}`, `${shown} is not a valid alternative name`);
    }
    return parsed;
  });
}

/** Undefined where the text is no host name, address, e-mail address or URI. */
export function findAlternativeName(text: string): GeneralName | undefined {
  const written = prefix.exec(text)?.[1]?.toUpperCase();
  const value = written ? text.slice(written.length + 1) : text;
  switch (written ?? kindOf(value)) {
    case 'IP':
      return isIP(value) && !value.includes('%') ? new GeneralName({ iPAddress: value }) : undefined;
    case 'EMAIL':
      return email.test(value) ? new GeneralName({ rfc822Name: value }) : undefined;
    case 'URI':
      return URL.canParse(value) && /^[\x21-\x7e]+$/.test(value)
        ? new GeneralName({ uniformResourceIdentifier: value })
        : undefined;
    default:
      return dnsNameOf(value);
  }
}

/** The text `parseAlternativeNames` reads back, always with its prefix. */
export function alternativeNameText(name: GeneralName): string {
  if (name.dNSName !== undefined) return `DNS:${printable(name.dNSName)}`;
  if (name.iPAddress !== undefined) return `IP:${name.iPAddress}`;
  if (name.rfc822Name !== undefined) return `email:${printable(name.rfc822Name)}`;
  if (name.uniformResourceIdentifier !== undefined) return `URI:${printable(name.uniformResourceIdentifier)}`;
  if (name.directoryName !== undefined) return `dirName:${distinguishedNameOf(name.directoryName)}`;
  if (name.registeredID !== undefined) return `RID:${name.registeredID}`;
  return `otherName:${name.otherName?.typeId ?? ''}`;
}

function kindOf(value: string): 'IP' | 'URI' | 'EMAIL' | 'DNS' {
  if (isIP(value)) return 'IP';
  if (value.includes('://')) return 'URI';
  return value.includes('@') ? 'EMAIL' : 'DNS';
}

function dnsNameOf(value: string): GeneralName | undefined {
  const isWildcard = value.startsWith('*.');
  const ascii = /^[\x21-\x7e]*$/.test(value)
    ? value
    : `${isWildcard ? '*.' : ''}${domainToASCII(isWildcard ? value.slice(2) : value)}`;
  return ascii.length <= 253 && hostName.test(ascii) ? new GeneralName({ dNSName: ascii }) : undefined;
}

function printable(value: string): string {
  return value.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
