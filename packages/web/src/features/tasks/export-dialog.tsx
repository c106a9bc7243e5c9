import { Alert, Button, Checkbox, Group, List, Modal, PasswordInput, Skeleton, Stack, Text } from '@mantine/core';
import type { Task, TaskExportPlan } from '@rushhour/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { saveFile } from '../../lib/save-file.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';

const { transfer } = text;

/** What goes along with a task, then the archive. */
export const ExportDialog = ({ task: { id }, onClose }: { task: Task; onClose: () => void }) => {
  const may = useMay();
  const [includeFilePayloads, setPayloads] = useState(true);
  const [includeMalwarePayloads, setMalware] = useState(false);
  const [hasSecrets, setHasSecrets] = useState(false);
  const [passphrase, setPassphrase] = useState('');
  const options = { includeFilePayloads, includeMalwarePayloads };
  const { data: plan, error } = useQuery({
    queryKey: ['tasks', 'export plan', id, options],
    queryFn: () => client.tasks.exportPlan({ params: { id }, query: options }),
  });
  const download = useMutation({
    mutationFn: async () => {
      const secrets = hasSecrets ? 'encrypted' : 'omit';
      const headers = hasSecrets ? { headers: { 'x-export-passphrase': passphrase } } : {};
      await saveFile(
        await client.tasks.export({ params: { id }, query: { ...options, secrets } }, headers),
        `task-${id}.zip`,
      );
    },
    onSuccess: onClose,
  });
  const problem = error ?? download.error;
  const savePlan = () => void saveFile(new Response(JSON.stringify(plan, null, 2)), `task-${id}-plan.json`);
  return (
    <Modal opened onClose={onClose} title={transfer.exportTitle} size="lg">
      <Stack>
        <Checkbox
          label={transfer.payloads}
          checked={includeFilePayloads}
          onChange={(event) => setPayloads(event.currentTarget.checked)}
        />
        {may('malware' as never, 'download') && (
          <Checkbox
            label={transfer.malware}
            checked={includeMalwarePayloads}
            onChange={(event) => setMalware(event.currentTarget.checked)}
          />
        )}
        <Checkbox
          label={transfer.secrets}
          checked={hasSecrets}
          onChange={(event) => setHasSecrets(event.currentTarget.checked)}
        />
        {hasSecrets && (
          <PasswordInput
            label={transfer.passphrase}
            value={passphrase}
            onChange={(event) => setPassphrase(event.currentTarget.value)}
            autoComplete="off"
          />
        )}
        {plan === undefined ? !error && <Skeleton height={120} /> : <Plan plan={plan} />}
        {problem && (
          <Alert color="red" variant="default" role="alert" style={{ whiteSpace: 'pre-line' }}>
            {sentenceOf(problem)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" disabled={plan === undefined} onClick={savePlan}>
            {transfer.plan}
          </Button>
          <Button loading={download.isPending} disabled={plan === undefined} onClick={() => download.mutate()}>
            {transfer.download}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

const Plan = ({ plan: { summary, missing, warnings } }: { plan: TaskExportPlan }) => {
  const { fileBytes, payloadBytes, ...counts } = summary;
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return (
    <Stack gap={4}>
      <Text fw={600} size="sm">
        {transfer.included}
      </Text>
      <Text size="sm">
        {[
          ...parts.map(([kind, count]) => `${count} ${transfer.kinds[kind] ?? kind}`),
          bytes(fileBytes + payloadBytes),
        ].join(' · ')}
      </Text>
      {missing.length > 0 && (
        <Text size="sm" c="red">
          {transfer.missing}:{' '}
          {missing.map(({ kind, sourceId, reason }) => `${kind} ${sourceId} (${reason})`).join(', ')}
        </Text>
      )}
      {warnings.length > 0 && (
        <List size="sm">
          {warnings.map((warning) => (
            <List.Item key={warning}>{warning}</List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
};
