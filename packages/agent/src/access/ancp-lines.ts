import { ancpTechnology, type LineReport } from '@rushhour/wire';
import { type AccessLineProfile, bytesOf, textOf } from './options/access-profiles.ts';

/** Types of lines that RFC 6320 has numbers for; 0 is any other. */
export const dslTypes: Readonly<Record<string, number>> = { adsl2plus: 3, vdsl2: 5 };
const dslKinds: ReadonlySet<string> = new Set(['adsl2plus', 'vdsl2', 'gfast']);
const ponKinds: ReadonlySet<string> = new Set(['gpon', 'xgspon']);
const maxInstance = 0xff_ffff;

const technologyOf = (kind: string): number => {
  if (dslKinds.has(kind)) return ancpTechnology.dsl;
  return ponKinds.has(kind) ? ancpTechnology.pon : ancpTechnology.any;
};

/** What is said about the line of a session, counted from 0. */
export const lineReportOf = (line: AccessLineProfile['line'], index: number, isUp: boolean): LineReport => ({
  isUp,
  circuitId: bytesOf(textOf(line.circuitId, index)),
  remoteId: bytesOf(textOf(line.remoteId, index)),
  upstreamKbps: line.upstreamKbps,
  downstreamKbps: line.downstreamKbps,
  technology: technologyOf(line.kind),
  dslType: dslTypes[line.kind] ?? 0,
});

/** A number that tells an adjacency from the one before. */
export const ancpInstance = (): number => 1 + Math.floor(Math.random() * maxInstance);
