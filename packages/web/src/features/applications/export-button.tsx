import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { text } from '../../lib/text.ts';

/** The application and its capture as one archive. */
export const ExportButton = ({ id }: { id: number }) => (
  <Button
    variant="default"
    component="a"
    href={`/v1/applications/${id}/export`}
    leftSection={<IconDownload size={16} />}
  >
    {text.applications.export}
  </Button>
);
