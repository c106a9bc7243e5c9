import { createTable, createUnique, type Migrating } from './create-table.ts';

/** Certificates; their texts and keys apart. */
export const certificates = async (m: Migrating) => {
  await createTable(m, 'certificates', {
    id: 'id',
    name: 'text',
    keywords: 'text',
    keyType: 'text',
    isCa: 'integer',
    notAfter: 'text',
    hasPrivate: 'integer',
    issuerCertificateID: 'integer?',
    issuerID: 'integer?',
    createdAt: 'text',
    updatedAt: 'text',
  });
  await createUnique(m, 'certificates', 'name');
  await createTable(m, 'certificateContents', {
    id: 'integer!>certificates.id',
    public: 'text',
    private: 'text',
    details: 'text',
  });
};
