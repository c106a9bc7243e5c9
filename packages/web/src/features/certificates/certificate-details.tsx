import { Alert, Badge, Card, Group, SimpleGrid, Stack, Table, Text, Timeline, Title } from '@mantine/core';
import type { Certificate } from '@rushhour/contract';
import type { ReactNode } from 'react';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';
import { ExpiryBadge } from './expiry-badge.tsx';
import { flawsOf } from './flaws.ts';

const { certificates: words } = text;
type Details = NonNullable<Certificate['details']>;

/** What a certificate says, whom it is signed by, how long it holds, and what a careful client would refuse. */
export const CertificateDetails = ({ certificate }: { certificate: Certificate }) => {
  const { details } = certificate;
  if (details === undefined) return null;
  const flaws = flawsOf(details);
  return (
    <Stack>
      {flaws.length > 0 && (
        <Alert color="yellow" title={words.problems}>
          {flaws.map((flaw) => (
            <Text key={flaw} size="sm">
              {flaw}
            </Text>
          ))}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Facts details={details} />
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

const Facts = ({ details }: { details: Details }) => {
  const { keyMatch, kind, isCa, san, sanCount, keyUsage, extendedKeyUsage } = details;
  const keyText = keyMatch === null ? words.noKey : keyMatch ? words.keyMatches : words.keyDiffers;
  const names = sanCount > san.length ? [...san, words.moreNames(sanCount - san.length)] : san;
  const rows: readonly [string, string][] = [
    [words.subject, details.subject],
    [words.issuer, details.issuer],
    [words.names, names.join('\n')],
    [words.key, `${details.keyType}, ${words.bits(details.keySize)}`],
    [words.signature, details.signatureAlgorithm],
    [words.usage, [...keyUsage, ...extendedKeyUsage].join(', ')],
    [words.serial, details.serialNumber],
    [words.fingerprint, details.fingerprints.sha256],
  ];
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        {words.details}
      </Title>
      <Group gap={6} mb="xs">
        <ExpiryBadge details={details} />
        {kind === 'csr' && <Badge variant="light">{words.request}</Badge>}
        {isCa && <Mark isGood={null}>{words.authority}</Mark>}
        <Mark isGood={keyMatch}>{keyText}</Mark>
      </Group>
      <Table variant="vertical" layout="fixed">
        <Table.Tbody>
          {rows
            .filter(([, value]) => value !== '')
            .map(([label, value]) => (
              <Table.Tr key={label}>
                <Table.Th w={120}>{label}</Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
};

const Chain = ({ details }: { details: Details }) => {
  const links = [details, ...details.chain];
  return (
    <Card withBorder>
      <Group justify="space-between" mb="md">
        <Title order={2} size="h5">
          {words.chain}
        </Title>
        <Mark isGood={details.chainComplete}>
          {details.chainComplete ? words.chainComplete : words.chainIncomplete}
        </Mark>
      </Group>
      <Timeline active={details.chainComplete ? links.length : 0} bulletSize={16} lineWidth={2}>
        {links.map(({ subject, notBefore, notAfter, selfSigned, isCa }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a chain is an order
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
    </Card>
  );
};
