import type { Visitor } from '../../../caller.ts';
import { invalid } from '../../../errors.ts';

const minBytes = 12;
const maxBytes = 1024;
const name = 'X-Export-Passphrase';

/** The bytes of the header as they were sent; undefined where there is none. */
export const findPassphrase = (visitor: Pick<Visitor, 'header'>): Buffer | undefined => {
  const text = visitor.header(name.toLowerCase());
  return text === undefined || text === '' ? undefined : Buffer.from(text, 'latin1');
};

/** A passphrase that is worth sealing with. */
export const requirePassphrase = (visitor: Pick<Visitor, 'header'>): Buffer => {
  const given = findPassphrase(visitor);
  if (given === undefined) throw refused('REQUIRED', 'is required when secrets are encrypted');
  if (given.length < minBytes || given.length > maxBytes) {
    throw refused('PASSPHRASE_LENGTH', `must have ${minBytes} to ${maxBytes} bytes`);
  }
  return given;
};

const refused = (code: string, message: string) => invalid([{ path: `/${name}`, in: 'header', code, message }]);
