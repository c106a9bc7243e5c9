import type { Visitor } from '../../../caller.ts';
import { invalid } from '../../../errors.ts';

const minBytes = 12;
const maxBytes = 1024;
const name = 'X-Export-Passphrase';

/** The original bytes of the header; undefined without one. */
export const findPassphrase = (visitor: Pick<Visitor, 'header'>): Buffer | undefined => {
  const text = visitor.header(name.toLowerCase());
  return text === undefined || text === '' ? undefined : Buffer.from(text, 'latin1');
};

/** A passphrase strong enough to seal secrets with. */
export const requirePassphrase = (visitor: Pick<Visitor, 'header'>): Buffer => {
  const given = findPassphrase(visitor);
  if (given === undefined) throw refused('REQUIRED', 'is required when secrets are encrypted');
  if (given.length < minBytes || given.length > maxBytes) {
    throw refused('PASSPHRASE_LENGTH', `must have ${minBytes} to ${maxBytes} bytes`);
  }
  return given;
};

const refused = (code: string, message: string) => invalid([{ path: `/${name}`, in: 'header', code, message }]);
