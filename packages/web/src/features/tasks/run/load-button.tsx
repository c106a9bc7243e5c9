import { Button, NumberInput, Popover, Stack, Text } from '@mantine/core';
import { type ConfigurationEntry, findPlugin, type LoadChange } from '@rushhour/contract';
import { IconAdjustments } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Explanation } from '../../../components/explanation.tsx';
import { client } from '../../../lib/client.ts';
import { text } from '../../../lib/text.ts';

const { run } = text;
type Rate = keyof typeof run.rates;
const rates = Object.keys(run.rates) as Rate[];

interface Changeable {
  index: number;
  rate: Rate;
  value: number;
  name: string;
}

/** The rates of a task that can be changed during a run. */
const changeableIn = (configuration: readonly ConfigurationEntry[]): Changeable[] =>
  configuration.flatMap(({ plugin, values = {} }, index) => {
    const known = findPlugin(plugin.id);
    const rate = rates.find((name) => typeof values[name] === 'number');
    if (!known?.canChangeLoad || rate === undefined) return [];
    return [{ index, rate, value: Number(values[rate]), name: `${index + 1} ${known.title}` }];
  });

interface LoadButtonProps {
  id: number;
  configuration: readonly ConfigurationEntry[];
}

/** Changes the rates of a running task, one per entry. */
export const LoadButton = ({ id, configuration }: LoadButtonProps) => {
  const [isOpen, setOpen] = useState(false);
  const [targets, setTargets] = useState<Record<number, number>>({});
  const changeable = changeableIn(configuration);
  const change = useMutation({
    mutationFn: () => apply(id, changeable, targets),
    onSuccess: () => setOpen(false),
  });
  if (changeable.length === 0) return null;
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus withinPortal>
      <Popover.Target>
        <Button variant="default" leftSection={<IconAdjustments size={16} />} onClick={() => setOpen(!isOpen)}>
          {run.changeLoad}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={run.changeLoad}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate();
          }}
        >
          <Stack gap="xs">
            {changeable.map(({ index, rate, value, name }) => (
              <NumberInput
                key={index}
                label={run.rateOf(name, run.rates[rate])}
                min={1}
                thousandSeparator=" "
                defaultValue={targets[index] ?? value}
                onChange={(next) => setTargets((known) => ({ ...known, [index]: Number(next) }))}
              />
            ))}
            {change.error && (
              <Text size="sm" c="red" role="alert" style={{ whiteSpace: 'pre-line' }}>
                <Explanation error={change.error} />
              </Text>
            )}
            <Button type="submit" size="xs" loading={change.isPending}>
              {run.apply}
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
};

const apply = async (id: number, changeable: readonly Changeable[], targets: Readonly<Record<number, number>>) => {
  const changes = changeable.flatMap(({ index, rate }): LoadChange[] => {
    const next = targets[index];
    return next === undefined ? [] : [{ index, [rate]: next }];
  });
  if (changes.length === 0) return;
  const { data } = await client.tasks.changeLoad({ body: { id, changes } });
  if (data.rejected.length > 0) throw new Error(data.rejected.map(({ reason }) => reason).join('\n'));
};
