import { invalid } from '../../../errors.ts';
import { createSchemaCheck } from '../../../schema-check.ts';
import { openSecrets, PlainSecrets } from '../sealed-secrets.ts';
import type { CheckedArchive } from './check-archive.ts';

const check = createSchemaCheck(PlainSecrets);
const none: PlainSecrets = { task: {}, tunnels: {}, certificates: {} };

/** The secrets of an archive in clear: none without a passphrase, an error with a wrong one. */
export const openedSecrets = async (
  { sealed, bound }: Pick<CheckedArchive, 'sealed' | 'bound'>,
  passphrase: Buffer | undefined,
): Promise<PlainSecrets> => {
  if (sealed === undefined || passphrase === undefined) return none;
  const opened = await openSecrets(sealed, passphrase, bound);
  if (opened === undefined) {
    const message = 'does not open the secrets of this archive';
    throw invalid([{ path: '/X-Export-Passphrase', in: 'header', code: 'BAD_PASSPHRASE', message }], 'BAD_PASSPHRASE');
  }
  const issues = check(opened, '/secrets');
  if (issues.length > 0) throw invalid(issues, 'BAD_ARCHIVE');
  return opened as PlainSecrets;
};
