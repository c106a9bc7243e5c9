import { Text, Title } from '@mantine/core';
import type { TaskTemplate } from '@rushhour/contract';

/** What was chosen in the step before. */
export const TemplateHeading = ({ template: { name, description } }: { template: TaskTemplate }) => (
  <div>
    <Title order={2} size="h4">
      {name}
    </Title>
    <Text size="sm" c="dimmed">
      {description}
    </Text>
  </div>
);
