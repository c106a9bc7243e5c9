import { Badge, Code, Group, Stack, Text } from '@mantine/core';
import type { CveSignature } from '@rushhour/contract';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { RecordName } from '../../components/record-name.tsx';
import { text } from '../../lib/text.ts';
import { duration } from '../../lib/units.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { requestLineOf, requestTextOf, responseLineOf, responseTextOf } from './message-text.ts';

const { signatures: words } = text;

/** What a signature sends and expects, in the order of the exchange. */
export const SignatureDetails = ({ signature }: { signature: CveSignature }) => {
  const { requests, responses, payloads, variables, expect } = signature;
  return (
    <>
      <Section title={words.requests(requests.length)} aside={<Expected {...expect} />}>
        <Stack gap="sm">
          {requests.map((request) => (
            <Message
              key={request.idx}
              number={request.idx + 1}
              line={requestLineOf(request)}
              content={requestTextOf(request)}
              note={request.delayMs ? words.after(duration(request.delayMs * 1000)) : ''}
            />
          ))}
        </Stack>
      </Section>
      {responses.length > 0 && (
        <Section title={words.responses(responses.length)}>
          <Stack gap="sm">
            {responses.map((response) => (
              <Message
                key={response.idx}
                number={response.idx + 1}
                line={responseLineOf(response)}
                content={responseTextOf(response)}
                note={response.when === undefined ? '' : words.answers(response.when.requestIdx + 1)}
              />
            ))}
          </Stack>
        </Section>
      )}
      {payloads.length > 0 && <Payloads signature={signature} />}
      {Object.keys(variables).length > 0 && (
        <Section title={words.variables}>
          <DataTable
            label={words.variables}
            rows={Object.entries(variables)}
            columns={[
              { header: words.name, cell: ([name]) => name },
              { header: words.value, isLong: true, cell: ([, value]) => value },
            ]}
          />
        </Section>
      )}
    </>
  );
};

const Expected = ({ action, ruleIDs = [] }: CveSignature['expect']) => (
  <Group gap="xs">
    <Text size="sm" c="dimmed">
      {words.expected}
    </Text>
    <Badge variant="light" tt="none">
      {choiceLabelOf(action, 'action')}
    </Badge>
    {ruleIDs.length > 0 && <Text size="sm">{words.byRules(ruleIDs.join(', '))}</Text>}
  </Group>
);

interface MessageProps {
  number: number;
  line: string;
  content: string;
  note: string;
}

const Message = ({ number, line, content, note }: MessageProps) => (
  <div>
    <Group gap="xs" mb={4}>
      <Text size="sm" fw={600}>
        {number}
      </Text>
      <Text size="sm">{line}</Text>
      <Text size="sm" c="dimmed">
        {note}
      </Text>
    </Group>
    {content !== '' && (
      <Code block tabIndex={0} mah={320} style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {content}
      </Code>
    )}
  </div>
);

const maxValues = 20;

const Payloads = ({ signature: { payloads, combine, maxAttempts } }: { signature: CveSignature }) => (
  <Section
    title={words.payloads}
    aside={
      <Text size="sm" c="dimmed">
        {words.combined(choiceLabelOf(combine, 'combine'), maxAttempts)}
      </Text>
    }
  >
    <DataTable
      label={words.payloads}
      rows={payloads}
      keyOf={({ name }) => name}
      columns={[
        { header: words.name, cell: ({ name }) => name },
        {
          header: words.values,
          isLong: true,
          cell: ({ values = [], dictionaryId }) =>
            dictionaryId === undefined ? (
              valuesText(values)
            ) : (
              <>
                {words.fromDictionary} <RecordName name="dictionaries" id={dictionaryId} />
              </>
            ),
        },
      ]}
    />
  </Section>
);

const valuesText = (values: readonly string[]) =>
  values.length > maxValues ? `${values.slice(0, maxValues).join(', ')} … (${values.length})` : values.join(', ');
