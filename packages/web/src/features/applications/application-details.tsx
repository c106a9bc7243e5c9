import { Anchor, Button, Card, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { Application } from '@rushhour/contract';
import { IconPencilPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type Step, StepList } from '../../components/capture/step-list.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { bytes } from '../../lib/units.ts';
import { type ParameterDraft, parameterFrom } from './parameter.ts';
import { ParameterDialog } from './parameter-dialog.tsx';
import { ParameterTable } from './parameter-table.tsx';
import { Suggestions } from './suggestions.tsx';

const { applications: words, capture } = text;

interface Edited {
  parameter: ParameterDraft;
  recorded?: Uint8Array;
}

/** Sessions, what they say, and which bytes differ from user to user. */
export const ApplicationDetails = ({ application }: { application: Application }) => {
  const { parameters } = application;
  const may = useMay()('applications', 'update');
  const [edited, setEdited] = useState<Edited>();
  const write = useWriteParameters(application);
  const search: Record<string, unknown> = useSearch({ strict: false });
  const open = search['session'] === undefined ? application.sessions[0]?.sessionIndex : Number(search['session']);
  const mark = (step: Step, place: { offset: number; length: number }, recorded: Uint8Array) => {
    const { sessionIdx, stepIdx, side } = step;
    const taken = parameters.map(({ name }) => name);
    const value = recorded.subarray(place.offset, place.offset + place.length);
    setEdited({ parameter: parameterFrom({ sessionIdx, stepIdx, side, ...place }, value, taken), recorded });
  };
  const others = parameters.filter(({ id }) => id !== edited?.parameter.id);
  return (
    <Stack>
      <ParameterTable
        parameters={parameters}
        {...(may && {
          onEdit: (parameter: ParameterDraft) => setEdited({ parameter }),
          onRemove: (id: number) => write(parameters.filter((one) => one.id !== id)),
        })}
      />
      {may && <Suggestions applicationId={application.id} onTake={(taken) => write([...parameters, taken])} />}
      <Sessions application={application} open={open} />
      {open !== undefined && (
        <Card withBorder>
          {may && (
            <Text size="sm" c="dimmed" mb="xs">
              {words.howToMark}
            </Text>
          )}
          <StepList
            fileId={application.trimmedPcapFileId ?? application.pcapFileId}
            sessionIdx={open}
            marksOf={(step) => marksOf(parameters, step)}
            {...(may && {
              onMark: mark,
              action: (step, recorded) => (
                <MarkButton
                  step={step}
                  onMark={() => mark(step, { offset: 0, length: Math.min(1, step.length) }, recorded)}
                />
              ),
            })}
          />
        </Card>
      )}
      {edited && (
        <ParameterDialog
          applicationId={application.id}
          others={others}
          {...edited}
          onClose={() => setEdited(undefined)}
          onSave={async (parameter) => {
            await write([...others, parameter]);
            setEdited(undefined);
          }}
        />
      )}
    </Stack>
  );
};

const marksOf = (parameters: Application['parameters'], { sessionIdx, stepIdx }: Step) =>
  parameters.flatMap(({ name, stepsMappings }) =>
    stepsMappings
      .filter((mapping) => mapping.sessionIdx === sessionIdx && mapping.stepIdx === stepIdx)
      .map(({ offset, length }) => ({ offset, length, label: name })),
  );

/** An update replaces all parameters; the version that was read guards those of others. */
const useWriteParameters = ({ id, updatedAt }: Application) => {
  const queries = useQueryClient();
  const toasts = useToasts();
  return async (parameters: readonly ParameterDraft[]) => {
    await client.applications.update({ body: { id, updatedAt, parameters: [...parameters] as never } });
    toasts.done(text.table.saved);
    await queries.invalidateQueries({ queryKey: ['applications'] });
  };
};

const MarkButton = ({ step, onMark }: { step: Step; onMark: () => void }) => (
  <Button
    size="compact-xs"
    variant="subtle"
    leftSection={<IconPencilPlus size={14} />}
    aria-label={words.parameterizeStep(step.stepIdx)}
    onClick={onMark}
  >
    {words.parameterize}
  </Button>
);

const Sessions = ({ application, open }: { application: Application; open: number | undefined }) => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const show = (session: number) => void navigate({ to: '.', search: { ...search, session } as never });
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {capture.sessions}
        </Title>
      </Group>
      <Table verticalSpacing={4} className="numbers" aria-label={capture.sessions}>
        <Table.Tbody>
          {application.sessions.map(({ sessionIndex, name, protocol, srcIp, dstIp, dstPort, ...session }) => (
            <Table.Tr key={sessionIndex} aria-selected={sessionIndex === open}>
              <Table.Td>
                <Anchor
                  component="button"
                  type="button"
                  ta="left"
                  fw={sessionIndex === open ? 700 : 400}
                  onClick={() => show(sessionIndex)}
                >
                  {name}
                </Anchor>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Text size="xs" ff="monospace">
                  {protocol} {srcIp} → {dstIp}:{dstPort}
                </Text>
              </Table.Td>
              <Table.Td ta="right">
                ↑ {bytes(session.bytesC2S)} ↓ {bytes(session.bytesS2C)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
};
