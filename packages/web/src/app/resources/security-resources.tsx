import { Badge } from '@mantine/core';
import type { CveSignature } from '@rushhour/contract';
import { idOf, type Resource } from '../../components/resource/resource.ts';
import { ContentField } from '../../components/schema-form/content-field.tsx';
import { TestWithButton } from '../../components/test-with-button.tsx';
import { ImportSignatures } from '../../features/cve/import-signatures.tsx';
import { SignatureDetails } from '../../features/cve/signature-details.tsx';
import { GenerateSamples } from '../../features/malware/generate-samples.tsx';
import { ImportSamples } from '../../features/malware/import-samples.tsx';
import { MalwareActions } from '../../features/malware/malware-actions.tsx';
import { text } from '../../lib/text.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { columns } from './columns.ts';

const { hints, malware, nav, signatures } = text;
const severityColors: Readonly<Record<string, string>> = {
  critical: 'red',
  high: 'orange',
  medium: 'yellow',
  low: 'blue',
};

/** Malware samples and CVE signatures. */
export const securityResources: readonly Resource[] = [
  {
    name: 'malware',
    title: nav.malware,
    hint: hints.malware,
    header: (
      <>
        <GenerateSamples />
        <ImportSamples />
      </>
    ),
    actions: (items, done) => <MalwareActions items={items} done={done} />,
    columns: [
      columns.name,
      { key: 'family' },
      { key: 'type', isMinor: true },
      { key: 'size', align: 'right', isMinor: true },
      { key: 'quarantine' },
      { key: 'lastOutcome', isMinor: true },
      columns.tags,
    ],
    form: ['name', 'content', 'archivePassword', 'attestation', 'family', 'type', 'platform', 'tags'],
    formMore: ['first_seen_at'],
    controls: { content: ContentField },
    sections: [
      {
        title: malware.sections.sample,
        members: [
          'family',
          'type',
          'platform',
          'kind',
          'inert',
          'container',
          'depth',
          'encoding',
          'size',
          'mime',
          'tags',
        ],
      },
      {
        title: malware.sections.state,
        members: [
          ...['quarantine', 'quarantineReason', 'releasedAt', 'expiresAt', 'hasContent', 'attestedAt', 'lastOutcome'],
          ...['lastVerdictAt', 'counts'],
        ],
      },
      {
        title: malware.sections.hashes,
        members: ['sha256', 'original_sha256', 'sha1', 'md5', 'sha3_384', 'aliases', 'avNames', 'references'],
      },
    ],
    hidden: ['name', 'releasedBy', 'attestedBy'],
  },
  {
    name: 'cve',
    title: nav.cve,
    hint: hints.cve,
    header: <ImportSignatures />,
    actions: ([item, ...others]) =>
      item && others.length === 0 && <TestWithButton template="IPS: one signature with its evasions" id={idOf(item)} />,
    columns: [
      columns.name,
      {
        key: 'severity',
        render: ({ severity }) => (
          <Badge color={severityColors[String(severity)] ?? 'gray'} variant="dot" tt="none">
            {severity ? choiceLabelOf(severity, 'severity') : '–'}
          </Badge>
        ),
      },
      { key: 'cvssScore', align: 'right', isMinor: true },
      { key: 'protocol', isMinor: true },
      { key: 'safety', isMinor: true },
      { key: 'enabled', isMinor: true },
      columns.changed,
    ],
    form: [
      'name',
      'description',
      'cveIDs',
      'severity',
      'protocol',
      'direction',
      'safety',
      'enabled',
      'requests',
      'expect',
    ],
    formMore: [
      'cweIDs',
      'cvssScore',
      'cvssVector',
      'vendor',
      'product',
      'techniques',
      'category',
      'tags',
      'remediation',
      'references',
      'responses',
      'variables',
      'payloads',
      'combine',
      'maxAttempts',
    ],
    details: (item) => <SignatureDetails signature={item as unknown as CveSignature} />,
    hidden: [
      'requests',
      'responses',
      'expect',
      'payloads',
      'variables',
      'combine',
      'maxAttempts',
      'cvssVersion',
      'name',
    ],
    sections: [
      {
        title: signatures.sections.severity,
        members: ['severity', 'cvssScore', 'cvssVector', 'epssScore', 'epssPercentile', 'kev', 'safety', 'enabled'],
      },
      {
        title: signatures.sections.classification,
        members: [
          ...[
            'description',
            'category',
            'protocol',
            'direction',
            'cveIDs',
            'cweIDs',
            'techniques',
            'vendor',
            'product',
          ],
          ...['cpe', 'year', 'publishedAt', 'tags', 'remediation', 'references'],
        ],
      },
      {
        title: signatures.sections.origin,
        members: [
          ...['source', 'sourceRef', 'sourceFileID', 'sourceSha256', 'licence', 'fingerprint', 'warnings', 'issuer'],
          ...['createdAt', 'updatedAt'],
        ],
      },
    ],
  },
];
