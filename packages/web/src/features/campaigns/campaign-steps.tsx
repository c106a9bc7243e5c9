import { List, Modal, Stack, Text } from '@mantine/core';
import type { Campaign } from '@rushhour/contract';
import { text } from '../../lib/text.ts';

const { campaigns: words } = text;

/** What a campaign does, step by step. */
export const CampaignSteps = ({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) => (
  <Modal opened onClose={onClose} title={campaign.name} size="lg">
    <Stack gap="sm">
      <Text size="sm">{campaign.description}</Text>
      <List type="ordered" size="sm" spacing="xs">
        {(campaign.steps ?? []).map(({ idx, name, action, technique, protocol, port, repeat, remediation }) => (
          <List.Item key={idx}>
            <Text size="sm" fw={600} span>
              {name}
            </Text>{' '}
            {[action, technique, port === 0 ? protocol : `${protocol}:${port}`, words.times(repeat)]
              .filter((part) => part !== '')
              .join(' · ')}
            {remediation !== '' && (
              <Text size="xs" c="dimmed">
                {remediation}
              </Text>
            )}
          </List.Item>
        ))}
      </List>
      {campaign.parameters.map(({ name, default: usual, description }) => (
        <Text key={name} size="sm">
          {name} = {usual} {description}
        </Text>
      ))}
    </Stack>
  </Modal>
);
