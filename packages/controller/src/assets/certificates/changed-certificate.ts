import type { CertificatePem } from './bundle.ts';
import { movedTo, problemOf, reported } from './issues.ts';
import { importPem, type Material, materialOf } from './material.ts';
import { keyIn } from './new-certificate.ts';
import { parsePem } from './pem.ts';
import { isPrivateKeyBlock, parsePrivateKey } from './private-key.ts';

export interface ContentPatch {
  readonly public?: string | null | undefined;
  /** `null` removes the key. */
  readonly private?: string | null | undefined;
  readonly passphrase?: string | null | undefined;
}

/** Whether an update says anything about texts or key; a record that is sent back as it was read does not. */
export const changesContent = (patch: ContentPatch, storedPublic: string): boolean =>
  patch.private === null || keyIn(patch.private) !== '' || isNewPublic(patch, storedPublic);

/** What a record keeps after an update, the new and the old together and checked against each other. */
export const changedMaterial = (patch: ContentPatch, stored: CertificatePem): Promise<Material> => {
  const given = keyIn(patch.private);
  const passphrase = patch.passphrase ?? undefined;
  return reported(
    async () => {
      const text = isNewPublic(patch, stored.public) ? (patch.public ?? '') : stored.public;
      if (patch.private === null)
        return materialOf({ ...(await importPem({ public: text, passphrase })), private: '' });
      if (given || holdsKey(text)) return materialOf(await importPem({ public: text, private: given, passphrase }));
      const pem = importPem({ public: text, private: stored.private });
      return pem.then(materialOf).catch(movedTo('/public', '/private'));
    },
    () => (given ? problemOf(() => parsePrivateKey(given, passphrase)) : []),
  );
};

const isNewPublic = (patch: ContentPatch, storedPublic: string): boolean =>
  Boolean(patch.public) && patch.public !== storedPublic;

const holdsKey = (text: string): boolean => parsePem(text, '/public').some(isPrivateKeyBlock);
