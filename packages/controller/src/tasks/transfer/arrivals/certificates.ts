import { certificateContents, certificates, sealKey } from '../../../store/assets/certificates.ts';
import type { Change } from '../../../store/engine/change.ts';
import { setLinks } from '../../../store/engine/links.ts';
import { at } from '../at-place.ts';
import type { RecordRules } from '../record-rules.ts';
import type { Prepare } from './arrival.ts';

export const prepareCertificate: Prepare<'certificates'> = async ({ certificate }, around, sourceId) => {
  const { rules, secrets, privateKeys } = around;
  const pem = { public: certificate.public, private: privateKeys[sourceId] ?? '' };
  const { contents, columns } = await at('/certificate', () => rules.certificate(pem));
  return async (tx, name, parts) => {
    const authority = await authorityOf(tx, rules, contents.public, parts.certificate.issuerCertificateID);
    const id = await certificates.insert(tx, { ...columns, name, issuerCertificateID: authority });
    await certificateContents.insert(tx, { ...contents, id, private: sealKey(secrets, id, contents.private) });
    const used = authority === null ? [] : [{ kind: 'certificate' as const, id: authority }];
    await setLinks(tx, { kind: 'certificate', id, name }, used);
    return id;
  };
};

/** The authority, unless it is one that did not sign the certificate: someone may have mapped another. */
const authorityOf = async (tx: Change, rules: RecordRules, child: string, id: number | null) => {
  const authority = id === null ? undefined : await certificateContents.find(tx, id);
  return authority && rules.isSignedBy(child, authority.public) ? id : null;
};
