import type { ProtocolConfig } from '@rushhour/contract';
import type { FileReference } from '@rushhour/protocol';
import type { PlanInput } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';

type Bgp = ProtocolConfig<'bgp'>;

/** A profile of BGP as agents get it: with the path of the file of its routes. */
const withFile = ({ files }: PlanInput, profile: Bgp, refuse: (message: string) => undefined): unknown => {
  const { fileID, ...imported } = profile.imported;
  if (fileID === undefined) return { ...profile, imported };
  const file = files.get(fileID);
  if (file?.isReady !== true) return refuse(`/imported/fileID: file ${fileID} is not there or not complete`);
  return { ...profile, imported: { ...imported, file: { $file: file.sha256, as: 'path' } satisfies FileReference } };
};

/** Profiles whose routes come from files, with these files. */
export const withRouteFiles = (
  input: PlanInput,
  profiles: Readonly<Record<string, unknown[]>>,
  { path, issues }: { readonly path: string; readonly issues: PlanIssues },
): Readonly<Record<string, unknown[]>> => {
  const { bgp, ...others } = profiles;
  if (bgp === undefined) return profiles;
  const complete = (bgp as Bgp[]).map((profile, i) =>
    withFile(input, profile, (message) => issues.error(`${path}/bgp/${i}`, 'FILE_MISSING', message)),
  );
  return { bgp: complete, ...others };
};
