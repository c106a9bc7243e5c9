import type { CveExportBody, CveSignature } from '@rushhour/contract';
import { writeZip } from '../../../assets/archives/write-zip.ts';
import { assertAllFound } from '../../../crud.ts';
import type { Download } from '../../../handler.ts';
import { findSignatures } from '../../../store/security/cve.ts';
import type { Store } from '../../../store/store.ts';
import { toFtw } from './export-ftw.ts';
import { toNative } from './export-native.ts';
import { toNuclei } from './export-nuclei.ts';

const writers = { nuclei: toNuclei, ftw: toFtw };

/** Signatures as a file: JSON in our own form, YAML of other tools, several of those in a zip. */
export const exportSignatures = async (store: Store, body: CveExportBody): Promise<Download> => {
  const { array, format = 'native', includeDisabled = false } = body;
  const found = await findSignatures(store.read, array);
  assertAllFound(
    'signature',
    array,
    found.map(({ id }) => id),
  );
  const wanted = found.filter(({ enabled }) => enabled || includeDisabled);
  if (format === 'native')
    return download('application/json', 'signatures.json', toNative(wanted), found.length - wanted.length);
  const written = wanted.flatMap((signature) => {
    const text = writers[format](signature);
    return text === undefined ? [] : [{ name: `${fileNameOf(signature)}.yaml`, content: text }];
  });
  const skipped = found.length - written.length;
  const [only] = written;
  if (only && written.length === 1) return download('application/yaml', only.name, only.content, skipped);
  return download('application/zip', `signatures-${format}.zip`, writeZip(written), skipped);
};

const fileNameOf = ({ id, sourceRef, name }: CveSignature) =>
  `${id}-${
    (sourceRef || name)
      .replace(/[^A-Za-z0-9.-]+/g, '_')
      .replace(/^[._]+|[._]+$/g, '')
      .slice(0, 80) || 'signature'
  }`;

const download = (type: string, name: string, body: Download['body'], skipped: number): Download => ({
  type,
  body,
  headers: { 'content-disposition': `attachment; filename="${name}"`, 'x-export-skipped': String(skipped) },
});
