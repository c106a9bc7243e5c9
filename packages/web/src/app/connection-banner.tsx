import { Alert } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client } from '../lib/client.ts';
import { useConnectionLost } from '../lib/connection.ts';
import { text } from '../lib/text.ts';

const retryMs = 2000;

/** Shown while the controller does not answer; when it does again, the page is read anew. */
export const ConnectionBanner = () => {
  const isLost = useConnectionLost();
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLost) return;
    const ask = () =>
      client.meta
        .version()
        .then(() => queries.invalidateQueries())
        .catch(() => {});
    const timer = setInterval(() => void ask(), retryMs);
    return () => clearInterval(timer);
  }, [isLost, queries]);
  return (
    isLost && (
      <Alert color="red" role="alert" mb="md" icon={<IconPlugConnectedX size={18} />} title={text.app.lost}>
        {text.app.lostText}
      </Alert>
    )
  );
};
