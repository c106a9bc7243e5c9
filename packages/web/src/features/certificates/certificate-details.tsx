import { Alert, Badge, Group, SimpleGrid, Stack, Text, Timeline } from '@mantine/core';
import type { Certificate } from '@rushhour/contract';
import type { ReactNode } from 'react';
import { FactTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';
import { type CertificateFields, problemsOf } from './certificate-problems.ts';
import { ExpiryBadge } from './expiry-badge.tsx';

const { certificates: words } = text;

/** Fields and chain of a certificate, and the problems a client may refuse it for. */
export const CertificateDetails = ({ certificate: { details } }: { certificate: Certificate }) => {
  if (details === undefined) return null;
  const problems = problemsOf(details);
  return (
    <Stack>
      {problems.length > 0 && (
        <Alert color="yellow" title={words.problems}>
          {problems.map((problem) => (
            <Text key={problem} size="sm">
              {problem}
            </Text>
          ))}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Fields details={details} />
        <Chain details={details} />
      </SimpleGrid>
    </Stack>
  );
};

const Mark = ({ isGood, children }: { isGood: boolean | null; children: ReactNode }) => (
  <Badge color={isGood === null ? 'gray' : isGood ? 'teal' : 'red'} variant="dot" tt="none">
    {children}
  </Badge>
);

const Fields = ({ details }: { details: CertificateFields }) => {
  const { keyMatch, kind, isCa, san, sanCount, keyUsage, extendedKeyUsage } = details;
  const keyText = keyMatch === null ? words.noKey : keyMatch ? words.keyMatches : words.keyDiffers;
  const names = sanCount > san.length ? [...san, words.moreNames(sanCount - san.length)] : san;
  return (
    <Section title={words.details}>
      <Group gap={6} mb="xs">
        <ExpiryBadge details={details} />
        {kind === 'csr' && <Badge variant="light">{words.request}</Badge>}
        {isCa && <Mark isGood={null}>{words.authority}</Mark>}
        <Mark isGood={keyMatch}>{keyText}</Mark>
      </Group>
      <FactTable
        facts={[
          [words.subject, details.subject],
          [words.issuer, details.issuer],
          [words.names, names.join('\n')],
          [words.key, `${details.keyType}, ${words.bits(details.keySize)}`],
          [words.signature, details.signatureAlgorithm],
          [words.usage, [...keyUsage, ...extendedKeyUsage].join(', ')],
          [words.serial, details.serialNumber],
          [words.fingerprint, details.fingerprints.sha256],
        ]}
      />
    </Section>
  );
};

const Chain = ({ details }: { details: CertificateFields }) => {
  const links = [details, ...details.chain];
  const state = details.chainComplete ? words.chainComplete : words.chainIncomplete;
  return (
    <Section title={words.chain} aside={<Mark isGood={details.chainComplete}>{state}</Mark>}>
      <Timeline active={details.chainComplete ? links.length : 0} bulletSize={16} lineWidth={2}>
        {links.map(({ subject, notBefore, notAfter, selfSigned, isCa }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a certificate is identified by its position in the chain
          <Timeline.Item key={i} title={subject || details.san[0] || '–'} style={{ overflowWrap: 'anywhere' }}>
            <Text size="xs" c="dimmed">
              {notBefore && notAfter && words.validity(absoluteTime(notBefore), absoluteTime(notAfter))}
            </Text>
            <Group gap={4} mt={4}>
              {isCa && <Mark isGood={null}>{words.authority}</Mark>}
              {selfSigned && <Mark isGood={null}>{words.selfSigned}</Mark>}
            </Group>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  );
};
