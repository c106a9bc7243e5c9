import { Stack, Title } from '@mantine/core';
import { text } from '../../lib/text.ts';

/** What is running, what failed, which agents are up. */
export const OverviewPage = () => (
  <Stack>
    <Title order={1} size="h2">
      {text.nav.overview}
    </Title>
  </Stack>
);
