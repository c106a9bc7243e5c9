import { type CveSignature, permissions } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { forbidden } from '../../errors.ts';
import { allows } from '../../people/permissions.ts';
import { isSafer } from './expressions/safety.ts';

type Safety = CveSignature['safety'];

/** The safety somebody wants instead of the known one. Calling a signature more harmless than it is known needs a reviewer. */
export const chosenSafety = ({ permissions: held }: Caller, known: Safety, wanted: Safety | undefined): Safety => {
  if (wanted === undefined || wanted === known) return known;
  if (isSafer(wanted, known) && !allows(held, 'cve.review')) {
    throw forbidden(
      'FORBIDDEN',
      `calling this signature ${wanted} instead of ${known} needs the permission cve.review`,
      {
        permission: 'cve.review',
        value: permissions['cve.review'],
      },
    );
  }
  return wanted;
};
