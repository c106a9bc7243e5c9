import { Accordion, Badge, Code, Grid, Group, Stack, Text } from '@mantine/core';
import type { TriedExchange } from '@rushhour/contract';
import { text } from '../lib/text.ts';
import { duration } from '../lib/units.ts';
import classes from './exchange-list.module.css';

const { exchanges: words } = text;
const colors = { ok: 'teal', failed: 'red', noAnswer: 'red' } as const;

interface ExchangeListProps {
  exchanges: readonly TriedExchange[];
  /** What failed is shown in full at once. */
  showsFailed?: boolean;
}

const failedOf = (exchanges: readonly TriedExchange[]) =>
  exchanges.flatMap(({ state }, index) => (state === 'ok' ? [] : [String(index)]));

/** Requests of journeys, each with its answer and the variables it was sent with. */
export const ExchangeList = ({ exchanges, showsFailed = false }: ExchangeListProps) => (
  <Accordion variant="contained" multiple defaultValue={showsFailed ? failedOf(exchanges) : []}>
    {exchanges.map((exchange, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: exchanges have no identity but their position
      <Accordion.Item key={i} value={String(i)}>
        <Accordion.Control>
          <Heading exchange={exchange} />
        </Accordion.Control>
        <Accordion.Panel>
          <Details exchange={exchange} />
        </Accordion.Panel>
      </Accordion.Item>
    ))}
  </Accordion>
);

const Heading = ({ exchange: { step, state, status, method, path, timeMs, problem } }: { exchange: TriedExchange }) => (
  <Stack gap={2}>
    <Group gap="xs">
      <Badge color={colors[state]} variant="dot" tt="none">
        {status ?? words.states[state]}
      </Badge>
      <Text fw={600} size="sm">
        {step}
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {method} {path}
      </Text>
      {timeMs !== null && <Text size="sm">{duration(timeMs * 1000)}</Text>}
    </Group>
    {problem !== '' && (
      <Text size="sm" fw={500}>
        {problem}
      </Text>
    )}
  </Stack>
);

const Details = ({ exchange: { variables, extracted, request, response } }: { exchange: TriedExchange }) => (
  <Stack gap="xs">
    <Values title={words.variables} values={variables} />
    <Values title={words.extracted} values={extracted} />
    <Grid>
      <Message title={words.request} content={request} />
      <Message title={words.response} content={response} />
    </Grid>
  </Stack>
);

const Message = ({ title, content }: { title: string; content: string }) => (
  <Grid.Col span={{ base: 12, md: 6 }}>
    <Text size="xs" fw={600}>
      {title}
    </Text>
    <Code block tabIndex={0} mah={400} mt={4} className={classes['message'] ?? ''}>
      {content}
    </Code>
  </Grid.Col>
);

const Values = ({ title, values }: { title: string; values: Readonly<Record<string, string>> }) => {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <Group gap="xs">
      <Text size="xs" fw={600}>
        {title}
      </Text>
      {entries.map(([name, value]) => (
        <Code key={name}>
          {name} = {value === '' ? <i>{words.empty}</i> : value}
        </Code>
      ))}
    </Group>
  );
};
