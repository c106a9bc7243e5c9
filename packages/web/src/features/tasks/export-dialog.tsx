import { Button, Checkbox, Group, List, Modal, PasswordInput, Skeleton, Stack, Text } from '@mantine/core';
import type { Task, TaskExportPlan } from '@rushhour/contract';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import { client } from '../../lib/client.ts';
import { saveJson, saveResponse } from '../../lib/downloads.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';

const { transfer } = text;

interface Options {
  readonly includeFilePayloads: boolean;
  readonly includeMalwarePayloads: boolean;
}

/** Shows what an export contains, and downloads the archive. */
export const ExportDialog = ({ task: { id }, onClose }: { task: Task; onClose: () => void }) => {
  const [options, setOptions] = useState<Options>({ includeFilePayloads: true, includeMalwarePayloads: false });
  const [passphrase, setPassphrase] = useState<string>();
  const { data: plan, error } = useQuery({
    queryKey: ['tasks', 'export plan', id, options],
    queryFn: () => client.tasks.exportPlan({ params: { id }, query: options }),
  });
  const download = useMutation({
    mutationFn: async () => {
      const secrets = passphrase === undefined ? 'omit' : 'encrypted';
      const headers = passphrase === undefined ? {} : { headers: { 'x-export-passphrase': passphrase } };
      const response = await client.tasks.export({ params: { id }, query: { ...options, secrets } }, headers);
      await saveResponse(response, `task-${id}.zip`);
    },
    onSuccess: onClose,
  });
  const problem = error ?? download.error;
  return (
    <Modal opened onClose={onClose} title={transfer.exportTitle} size="lg">
      <Stack>
        <PayloadFields options={options} onChange={setOptions} />
        <SecretFields passphrase={passphrase} onChange={setPassphrase} />
        {plan === undefined ? !error && <Skeleton height={120} /> : <Plan plan={plan} />}
        {problem && <Problem error={problem} />}
        <Group justify="flex-end">
          <Button
            variant="default"
            disabled={plan === undefined}
            onClick={() => saveJson(plan, `task-${id}-plan.json`)}
          >
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

const PayloadFields = ({ options, onChange }: { options: Options; onChange: (options: Options) => void }) => (
  <>
    <Checkbox
      label={transfer.payloads}
      checked={options.includeFilePayloads}
      onChange={(event) => onChange({ ...options, includeFilePayloads: event.currentTarget.checked })}
    />
    {useMay()('malware', 'download') && (
      <Checkbox
        label={transfer.malware}
        checked={options.includeMalwarePayloads}
        onChange={(event) => onChange({ ...options, includeMalwarePayloads: event.currentTarget.checked })}
      />
    )}
  </>
);

interface SecretFieldsProps {
  /** Secrets are exported only with a passphrase. */
  passphrase: string | undefined;
  onChange: (passphrase: string | undefined) => void;
}

const SecretFields = ({ passphrase, onChange }: SecretFieldsProps) => (
  <>
    <Checkbox
      label={transfer.secrets}
      checked={passphrase !== undefined}
      onChange={(event) => onChange(event.currentTarget.checked ? '' : undefined)}
    />
    {passphrase !== undefined && (
      <PasswordInput
        label={transfer.passphrase}
        value={passphrase}
        onChange={(event) => onChange(event.currentTarget.value)}
        autoComplete="off"
      />
    )}
  </>
);

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
