import type { CveSignature } from '@rushhour/contract';
import type { PlanScope } from '../../core/plan-scope.ts';

/** The signature with this id if it may be run; otherwise undefined, and why is told. */
export const findUsableSignature = (
  { input, issues }: PlanScope,
  id: number,
  { path, allowIntrusive }: { readonly path: string; readonly allowIntrusive: boolean },
): CveSignature | undefined => {
  const signature = input.signatures.get(id);
  if (signature === undefined) return issues.error(path, 'SIGNATURE_UNKNOWN', `there is no signature ${id}`);
  const { name, safety, enabled } = signature;
  if (safety !== 'benign' && !allowIntrusive) {
    return issues.error(path, 'SIGNATURE_INTRUSIVE', `"${name}" is ${safety}: it needs allowIntrusive`);
  }
  return enabled ? signature : issues.error(path, 'SIGNATURE_DISABLED', `"${name}" is disabled`);
};

/** What results call a signature. */
export const signatureName = ({ cveIDs, name }: CveSignature): string => (cveIDs[0] ?? name).slice(0, 256);
