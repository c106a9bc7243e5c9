import { Badge } from '@mantine/core';
import type { Resource } from '../../components/resource/resource.ts';
import { ContentField } from '../../components/schema-form/content-field.tsx';
import { ImportSignatures } from '../../features/cve/import-signatures.tsx';
import { ImportSamples } from '../../features/malware/import-samples.tsx';
import { text } from '../../lib/text.ts';

const { columns: headers, hints, nav } = text;
const named = { key: 'name', header: headers.name };
const colors: Readonly<Record<string, string>> = { critical: 'red', high: 'orange', medium: 'yellow', low: 'blue' };

/** What tests of security devices are made of. */
export const securityResources: readonly Resource[] = [
  {
    name: 'malware',
    title: nav.malware,
    hint: hints.malware,
    header: <ImportSamples />,
    columns: [
      named,
      { key: 'family', header: headers.family },
      { key: 'type', header: headers.type, isMinor: true },
      { key: 'size', header: headers.size, align: 'right', isMinor: true },
      { key: 'quarantine', header: headers.quarantine },
      { key: 'lastOutcome', header: headers.lastOutcome, isMinor: true },
      { key: 'tags', header: headers.tags, isMinor: true },
    ],
    form: ['name', 'content', 'archivePassword', 'attestation', 'family', 'type', 'platform', 'tags'],
    formMore: ['first_seen_at'],
    controls: { content: ContentField },
  },
  {
    name: 'cve',
    title: nav.cve,
    hint: hints.cve,
    header: <ImportSignatures />,
    columns: [
      named,
      {
        key: 'severity',
        header: headers.severity,
        render: ({ severity }) => (
          <Badge color={colors[String(severity)] ?? 'gray'} variant="dot" tt="none">
            {String(severity || '–')}
          </Badge>
        ),
      },
      { key: 'cvssScore', header: headers.cvss, align: 'right', isMinor: true },
      { key: 'protocol', header: headers.protocol, isMinor: true },
      { key: 'safety', header: headers.safety, isMinor: true },
      { key: 'enabled', header: headers.enabled, isMinor: true },
      { key: 'updatedAt', header: headers.changed, isMinor: true },
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
  },
];
