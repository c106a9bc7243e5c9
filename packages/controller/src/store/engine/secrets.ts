import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../errors.ts';
import type { Database, Executor } from './database.ts';
import { hasTable } from './migrate.ts';
import { statement } from './statement.ts';

/** The location of a secret. It is authenticated, so a sealed value cannot be moved to another location. */
export interface SecretLocation {
  table: string;
  id: number | string;
  column: string;
}

export interface Secrets {
  seal(plain: string, location: SecretLocation): string;
  open(sealed: string, location: SecretLocation): string;
  /** A keyed, one-way derivation: the same input always gives the same 32 bytes, unknown to anyone without the key. */
  derive(purpose: string, input: string): Buffer;
}

const keyBytes = 32;

/** Atomic and exclusive: another controller may start in the same folder at the same time. */
const makeKeyFile = (file: string): void => {
  const draft = `${file}.${randomUUID()}`;
  try {
    const text = `${randomBytes(keyBytes).toString('base64')}\n`;
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};

/**
 * The installation's key: given, or read from a file that only the owner may read. The file is made at first start, but
 * not for a database that is sealed already: a new key would open nothing in it.
 */
export const loadKey = (given: Buffer | undefined, dataDir: string, isSealed: boolean): Buffer => {
  if (given !== undefined) return given;
  const file = join(dataDir, 'secret.key');
  if (!existsSync(file)) {
    if (isSealed) {
      throw new StartError(
        `the key file ${file} is missing, and the database is sealed with it: put the file back, or give the key in ` +
          'RUSHHOUR_SECRET_KEY',
      );
    }
    makeKeyFile(file);
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== keyBytes) throw new StartError(`${file} does not hold a key of ${keyBytes} bytes`);
  return key;
};

/** Seals each value with a data key of its own, wrapped by the installation's key. AES-256-GCM throughout. */
export const createSecrets = (key: Buffer): Secrets => {
  const wrapKey = Buffer.from(hkdfSync('sha256', key, '', 'rushhour wrap', keyBytes));
  const deriveKey = Buffer.from(hkdfSync('sha256', key, '', 'rushhour derive', keyBytes));
  return {
    seal(plain, location) {
      const dataKey = randomBytes(keyBytes);
      const where = bytesOf(location);
      return ['v1', encrypt(wrapKey, dataKey, where), encrypt(dataKey, Buffer.from(plain), where)].join('.');
    },
    open(sealed, location) {
      const [version, wrapped, body] = sealed.split('.');
      if (version !== 'v1' || wrapped === undefined || body === undefined) throw new Error('not a sealed value');
      const where = bytesOf(location);
      return decrypt(decrypt(wrapKey, wrapped, where), body, where).toString();
    },
    derive: (purpose, input) => createHmac('sha256', deriveKey).update(`${purpose}\0${input}`).digest(),
  };
};

const bytesOf = ({ table, id, column }: SecretLocation) => Buffer.from(JSON.stringify([table, id, column]));

const encrypt = (key: Buffer, plain: Buffer, where: Buffer) => {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(where);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
};

const decrypt = (key: Buffer, sealed: string, where: Buffer) => {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(where);
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
};

const findCheck = statement((db, _: object) =>
  db.selectFrom('installation').select('value').where('name', '=', 'keyCheck'),
);
const insertCheck = statement((db, p: { value: string }) =>
  db
    .insertInto('installation')
    .values({ name: 'keyCheck', value: p.value })
    .onConflict((c) => c.doNothing()),
);

const keyCheckLocation: SecretLocation = { table: 'installation', id: 'keyCheck', column: 'value' };

/** Whether values of this database are sealed with a key. A new database has no tables yet. */
export const isSealed = async (database: Executor) =>
  (await hasTable(database, 'installation')) && (await findCheck.first(database, {})) !== undefined;

/** Refuses a database that was sealed with another key, before anything is read wrongly. */
export const checkKey = async (database: Database, secrets: Secrets) => {
  await database.transaction((tx) => insertCheck.all(tx, { value: secrets.seal('rushhour', keyCheckLocation) }));
  await assertKeyFits(database, secrets);
};

export const assertKeyFits = async (database: Executor, secrets: Secrets) => {
  const row = await findCheck.first(database, {});
  try {
    secrets.open(row?.value ?? '', keyCheckLocation);
  } catch (cause) {
    throw new StartError('this database was sealed with another secret key: give the key it was made with', { cause });
  }
};
