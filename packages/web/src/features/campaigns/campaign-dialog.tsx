import { Group, Modal, Stack, Text } from '@mantine/core';
import { type Campaign, type CampaignStep, campaignParams } from '@rushhour/contract';
import { type DataColumn, DataTable, FactTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import type { Schema } from '../../components/schema-form/schema.ts';
import { ValueText } from '../../components/schema-form/value-text.tsx';
import { TestWithButton } from '../../components/test-with-button.tsx';
import { text } from '../../lib/text.ts';
import { clock, duration } from '../../lib/units.ts';
import { choiceLabelOf } from '../../texts/choices.ts';

const { campaigns: words } = text;
const listed = (values: readonly string[], member: string) =>
  values.map((value) => choiceLabelOf(value, member)).join(', ');

/** A campaign: its facts, its steps in order, and the parameters that a test may set. */
export const CampaignDialog = ({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) => (
  <Modal opened onClose={onClose} title={campaign.name} size="min(1100px, 100%)">
    <Stack gap="sm">
      <Text size="sm">{campaign.description}</Text>
      <Group>
        <TestWithButton template="Command and control of compromised hosts" id={campaign.id} />
      </Group>
      <FactTable
        facts={[
          [words.tactics, listed(campaign.tactics, 'tactic')],
          [words.techniques, campaign.techniques.join(', ')],
          [words.protocols, listed(campaign.protocols, 'protocol')],
          [words.duration, clock(campaign.estimatedMs / 1000)],
        ]}
      />
      <Section title={words.steps} order={3}>
        <DataTable label={words.steps} columns={stepColumns} rows={campaign.steps ?? []} keyOf={({ idx }) => idx} />
      </Section>
      {campaign.parameters.length > 0 && (
        <Section title={words.parameters} order={3}>
          <DataTable
            label={words.parameters}
            columns={parameterColumns}
            rows={campaign.parameters}
            keyOf={({ name }) => name}
          />
        </Section>
      )}
    </Stack>
  </Modal>
);

const stepColumns: readonly DataColumn<CampaignStep>[] = [
  { header: words.number, align: 'right', cell: ({ idx }) => idx + 1 },
  {
    header: words.step,
    cell: ({ name, remediation }) => (
      <>
        {name}
        {remediation !== '' && (
          <Text size="xs" c="dimmed">
            {remediation}
          </Text>
        )}
      </>
    ),
  },
  {
    header: words.action,
    cell: ({ action, params }) => (
      <>
        {choiceLabelOf(action, 'action')}
        <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
          <ValueText value={params} schema={campaignParams[action] as unknown as Schema} path="/params" />
        </Text>
      </>
    ),
  },
  { header: words.technique, cell: ({ technique }) => technique },
  { header: words.channel, isMinor: true, cell: channelOf },
  { header: words.timing, isMinor: true, cell: timingOf },
  { header: words.expected, isMinor: true, cell: ({ expect }) => choiceLabelOf(expect, 'expect') },
];

function channelOf({ protocol, port }: CampaignStep): string {
  const name = choiceLabelOf(protocol, 'protocol');
  return port === 0 ? name : words.onPort(name, port);
}

function timingOf({ delayMs, repeat }: CampaignStep): string {
  return [delayMs > 0 && words.after(duration(delayMs * 1000)), repeat > 1 && words.times(repeat)]
    .filter(Boolean)
    .join(', ');
}

const parameterColumns: readonly DataColumn<Campaign['parameters'][number]>[] = [
  { header: words.name, cell: ({ name }) => name },
  { header: words.default, isLong: true, cell: ({ default: value }) => value },
  { header: words.range, isMinor: true, cell: ({ min, max }) => (min === '' && max === '' ? '' : `${min}–${max}`) },
  { header: words.meaning, cell: ({ description }) => description },
];
