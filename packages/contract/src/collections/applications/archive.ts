import { type Static, Type } from 'typebox';
import { Data } from '../../envelopes.ts';
import { Id, Name } from '../../scalars.ts';
import { Component, OneOf, optional, StrictComponent, StrictObject } from '../../schema.ts';
import { applicationMembers } from './application.ts';

/** An exported application. Ids occur only in references, which the manifest resolves to names. */
export const PortableApplication = StrictObject({ name: Name, ...applicationMembers });
export type PortableApplication = Static<typeof PortableApplication>;

export const applicationSchema = 'rushhour.application/1';

export const ApplicationManifest = Component('ApplicationManifest', {
  schema: Type.Literal(applicationSchema),
  application: Type.Object({
    name: Type.String(),
    fingerprint: Type.String({ description: 'SHA-256 of application.json with sorted members and no blanks' }),
  }),
  pcap: Type.Object(
    {
      path: Type.String({ description: 'Where the capture lies in the archive; empty when it is left out' }),
      name: Type.String(),
      size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      md5: Type.String(),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      original_sha256: Type.String(),
    },
    { description: 'The capture that is played' },
  ),
  dictionaries: Type.Array(Type.Object({ id: Id, name: Type.String() }), {
    maxItems: 500,
    description: 'Names of the dictionaries that parameters refer to',
  }),
});
export type ApplicationManifest = Static<typeof ApplicationManifest>;

const importOptions = {
  dryRun: optional.flag('Only say what would happen'),
  onConflict: optional.oneOf(['rename', 'skip', 'replace'], {
    description: 'When the name is taken; rename unless said',
  }),
};

export const ImportFields = StrictObject(importOptions);
export type ImportFields = Static<typeof ImportFields>;

export const ImportDocument = StrictComponent('ApplicationDocument', {
  manifest: ApplicationManifest,
  application: PortableApplication,
  pcap: optional.string({ description: 'The capture in base64, at most 10 MiB of it' }),
  ...importOptions,
});
export type ImportDocument = Static<typeof ImportDocument>;

export const ImportReport = Data(
  Type.Object({
    ids: Type.Array(Id, { description: 'None in a dry run' }),
    report: Type.Array(
      Type.Object({
        name: Type.String(),
        status: OneOf(['created', 'renamed', 'replaced', 'skipped']),
        reason: Type.String(),
      }),
    ),
  }),
);
