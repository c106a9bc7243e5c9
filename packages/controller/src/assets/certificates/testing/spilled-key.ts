import { createPrivateKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The spellings in which a private key could stand somewhere: its secret number and its whole encoding. */
const spellingsOf = (pem: string): Buffer[] => {
  const key = createPrivateKey(pem);
  const { d = '' } = key.export({ format: 'jwk' });
  const secret = Buffer.from(d, 'base64url');
  const der = key.export({ format: 'der', type: 'pkcs8' });
  const lines = pem.split('\n').filter((line) => line.length > 40 && !line.includes('-----'));
  const texts = [secret, der].flatMap((bytes) =>
    (['hex', 'base64', 'base64url'] as const).map((coding) => bytes.toString(coding)),
  );
  return [secret, der, ...[...texts, ...lines].map((text) => Buffer.from(text))];
};

/** Which of the haystacks hold the key in any spelling. */
export const spilledIn = (pem: string, haystacks: Record<string, Buffer>): string[] => {
  const spellings = spellingsOf(pem);
  return Object.keys(haystacks).filter((name) => spellings.some((spelling) => haystacks[name]?.includes(spelling)));
};

/** Every file below a folder. */
export const filesIn = (folder: string): Record<string, Buffer> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file, readFileSync(file)]),
  );
