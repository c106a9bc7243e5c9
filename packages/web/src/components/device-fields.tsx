import { Autocomplete, SimpleGrid, TextInput } from '@mantine/core';
import type { Device, DeviceUse } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from '../lib/client.ts';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';

const { devices: words } = text;
const details = ['vendor', 'model', 'version'] as const;
const maxLength = 128;

/** Each device in each version that runs have had, the newest first. */
export const useDevices = (): readonly DeviceUse[] | undefined => {
  const may = useMay();
  return useQuery({
    queryKey: ['tasks', 'devices'],
    queryFn: async () => (await client.tasks.counters({ query: { devices: true } })).data.devices ?? [],
    enabled: may('tasks', 'counters'),
  }).data;
};

interface DeviceFieldsProps {
  device: Device | null;
  onChange: (device: Device | null) => void;
}

/** The device under test, then its details: a known one fills in its vendor, model and newest version. */
export const DeviceFields = ({ device, onChange }: DeviceFieldsProps) => {
  const known = useDevices() ?? [];
  const rename = (name: string) => {
    const { vendor, model, version } = known.find((one) => one.name === name) ?? { ...device };
    onChange(name === '' ? null : { name, ...without({ vendor, model, version }) });
  };
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
      <Autocomplete
        label={words.device}
        value={device?.name ?? ''}
        data={[...new Set(known.map(({ name }) => name))]}
        maxLength={maxLength}
        onChange={rename}
      />
      {device !== null &&
        details.map((detail) => (
          <TextInput
            key={detail}
            label={words[detail]}
            value={device[detail] ?? ''}
            maxLength={maxLength}
            onChange={({ currentTarget: { value } }) =>
              onChange({ name: device.name, ...without({ ...device, [detail]: value }) })
            }
          />
        ))}
    </SimpleGrid>
  );
};

/** The details that are given. */
const without = (given: Partial<Record<(typeof details)[number], string | undefined>>): Omit<Device, 'name'> =>
  Object.fromEntries(details.flatMap((detail) => (given[detail] ? [[detail, given[detail]]] : [])));
