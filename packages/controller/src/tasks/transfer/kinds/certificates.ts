import { certificateContents, certificates } from '../../../store/assets/certificates.ts';
import { statement } from '../../../store/engine/statement.ts';
import type { Travelling } from './travelling.ts';

/** Those with a key first: whoever has it can do more. */
const byText = statement((db, p: { public: string }) =>
  db
    .selectFrom('certificateContents as contents')
    .innerJoin('certificates', 'certificates.id', 'contents.id')
    .select('certificates.id')
    .where('contents.public', '=', p.public)
    .orderBy('certificates.hasPrivate', 'desc')
    .orderBy('certificates.id'),
);

export const travellingCertificates: Travelling<'certificates'> = {
  read: async (executor, id) => {
    const [found, contents] = await Promise.all([
      certificates.find(executor, id),
      certificateContents.find(executor, id),
    ]);
    if (found === undefined || contents === undefined) return undefined;
    const { name, issuerCertificateID, hasPrivate } = found;
    return { certificate: { name, public: contents.public, issuerCertificateID }, hasPrivate };
  },
  nameOf: ({ certificate }) => certificate.name,
  references: ({ certificate: { issuerCertificateID: id } }) =>
    id === null ? [] : [{ path: '/certificate/issuerCertificateID', kind: 'certificates', id }],
  essenceOf: ({ certificate }) => ({ public: certificate.public }),
  lookAlikes: async (executor, { certificate }) =>
    (await byText.all(executor, { public: certificate.public })).map(({ id }) => id),
};
