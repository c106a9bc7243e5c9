import { type Static, Type } from 'typebox';
import { Data } from '../../envelopes.ts';
import { Id } from '../../scalars.ts';
import { Component, OneOf, optional, StrictComponent, StrictObject, strict } from '../../schema.ts';
import type { safeties } from './signature.ts';

export const cveFormats = [
  'auto',
  'nuclei',
  'ftw',
  'gotestwaf',
  'http-raw',
  'pcap',
  'native',
  'cve-json5',
  'epss-csv',
  'kev-json',
  'network',
] as const;
export type CveFormat = (typeof cveFormats)[number];

const importOptions = {
  format: optional.oneOf(cveFormats, {
    description:
      'Recognised unless said. network: signatures of our own for intrusion prevention; the content names protocols, or all',
  }),
  dryRun: optional.flag('Only say what would happen'),
  onConflict: optional.oneOf(['skip', 'replace', 'version'], {
    description: 'When the template is there and differs: keep it, replace it (unless said), or add a new version',
  }),
  tags: optional.string({ maxLength: 512, pattern: '^([a-z0-9._:-]{1,64}(,[a-z0-9._:-]{1,64}){0,7})?$' }),
  enable: optional.oneOf(['none', 'benign'], { description: 'What may be run at once; benign unless said' }),
};

export const CveImportFields = StrictObject(importOptions);
export type CveImportFields = Static<typeof CveImportFields>;

export const CveImportDocument = StrictComponent('CveImport', {
  ...importOptions,
  name: optional.text(255, 'Of the file, which helps to recognise it'),
  content: Type.String({ description: 'The template, list or archive' }),
  encoding: optional.oneOf(['text', 'base64'], { description: 'How content is written; text unless said' }),
});
export type CveImportDocument = Static<typeof CveImportDocument>;

const ReportLine = Component('CveImportLine', {
  path: Type.String({ description: 'File in the archive' }),
  templateId: Type.String(),
  status: OneOf(['imported', 'updated', 'unchanged', 'disabled', 'refused'], {
    description: 'disabled: imported, but not to be run before a review',
  }),
  reason: Type.String(),
  safety: Type.Unsafe<(typeof safeties)[number] | null>({ type: ['string', 'null'] }),
  signatureIDs: Type.Array(Id, { description: 'None in a dry run' }),
});
export type CveImportLine = Static<typeof ReportLine>;

export const CveImportReport = Data(
  Type.Object({
    created: Type.Integer(),
    updated: Type.Integer(),
    skipped: Type.Integer({ description: 'Unchanged and refused' }),
    report: Type.Array(ReportLine),
  }),
);

export const CveExportBody = StrictComponent('CveExport', {
  array: Type.Array(Id, { minItems: 1, maxItems: 1000, uniqueItems: true, description: 'Ids of the signatures' }),
  format: optional.oneOf(['native', 'nuclei', 'ftw'], { description: 'native unless said' }),
  includeDisabled: optional.flag('Disabled ones, too; they are skipped unless said'),
});
export type CveExportBody = Static<typeof CveExportBody>;

export const CveTestBody = StrictComponent('CveTest', {
  mode: OneOf(['render', 'run'], { description: 'Show what would be sent, or send it' }),
  clientAgentID: optional.described(Id, 'Who sends; needed to run'),
  serverAgentID: optional.described(Id, 'Who answers; needed to run'),
  target: optional.string({
    minLength: 2,
    maxLength: 64,
    description: 'Address of the device in between; nothing is sent before a harmless request came through it',
  }),
  networks: Type.Optional(
    Type.Object(
      { client: Type.Optional(Id), server: Type.Optional(Id) },
      { ...strict, description: 'Networks to send from and to listen in' },
    ),
  ),
  variants: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'As in cveReplayParams' })),
  detection: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'As in cveReplayParams' })),
  wait: optional.integer([0, 60], 'Seconds to wait for the outcome; 0 unless said'),
});
export type CveTestBody = Static<typeof CveTestBody>;

const Rendered = Type.Object({
  attempt: Type.Integer({ description: 'From 0; payloads make several' }),
  requestIdx: Type.Integer(),
  protocol: Type.String(),
  bytes: Type.String({ description: 'What goes over the wire, in base64; of a DNS request its name' }),
  text: Type.String({ description: 'The same for people; bytes that are no text are shown as dots' }),
});

export const CveTestReply = Data(
  Type.Object({
    requests: optional.array(Rendered),
    responses: optional.array(Type.Unknown()),
    issues: optional.array(Type.String()),
    attempts: Type.Optional(Type.Integer({ description: 'How many attempts the payloads make' })),
    taskID: Type.Optional(Id),
    outcome: Type.Optional(Type.String()),
  }),
);
