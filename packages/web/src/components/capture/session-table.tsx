import { Anchor, Badge, Checkbox, Text, Tooltip } from '@mantine/core';
import type { PcapInfo } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { bytes, duration } from '../../lib/units.ts';
import { type DataColumn, DataTable } from '../data-table.tsx';

const { capture: words } = text;
type CaptureSession = PcapInfo['sessions'][number];

interface SessionTableProps {
  sessions: readonly CaptureSession[];
  /** The session whose steps are shown. */
  shown?: number | undefined;
  onShow?: (index: number) => void;
  selected?: readonly number[];
  onSelect?: (indexes: readonly number[]) => void;
}

const endpointOf = (ip: string, port: number) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

/** The TCP and UDP sessions of a capture. */
export const SessionTable = ({ sessions, shown, onShow, selected = [], onSelect }: SessionTableProps) => {
  const toggle = (index: number) =>
    onSelect?.(selected.includes(index) ? selected.filter((one) => one !== index) : [...selected, index]);
  const checkbox: DataColumn<CaptureSession> = {
    label: words.select,
    width: 36,
    cell: ({ name, sessionIndex }) => (
      <Checkbox
        aria-label={words.selectOne(name)}
        checked={selected.includes(sessionIndex)}
        onChange={() => toggle(sessionIndex)}
      />
    ),
  };
  return (
    <DataTable
      label={words.sessions}
      columns={[onSelect !== undefined && checkbox, nameColumn(onShow), ...columns]}
      rows={sessions}
      keyOf={({ sessionIndex }) => sessionIndex}
      isSelected={({ sessionIndex }) => shown === sessionIndex}
    />
  );
};

const nameColumn = (onShow: SessionTableProps['onShow']): DataColumn<CaptureSession> => ({
  header: words.session,
  cell: ({ name, sessionIndex, protocol, appProtocol }) => (
    <>
      {onShow ? (
        <Anchor component="button" type="button" ta="left" onClick={() => onShow(sessionIndex)}>
          {name}
        </Anchor>
      ) : (
        name
      )}
      <Text size="xs" c="dimmed">
        {protocol.toUpperCase()} {appProtocol !== 'unknown' && appProtocol}
      </Text>
    </>
  ),
});

const columns: readonly DataColumn<CaptureSession>[] = [
  {
    header: words.between,
    isMinor: true,
    cell: ({ srcIp, srcPort, dstIp, dstPort }) => (
      <Text size="xs" ff="monospace">
        {endpointOf(srcIp, srcPort)} → {endpointOf(dstIp, dstPort)}
      </Text>
    ),
  },
  {
    header: words.payload,
    align: 'right',
    cell: ({ bytesC2S, bytesS2C }) => (
      <Text size="xs">
        ↑ {bytes(bytesC2S)}
        <br />↓ {bytes(bytesS2C)}
      </Text>
    ),
  },
  { header: words.duration, align: 'right', isMinor: true, cell: ({ durationMs }) => duration(durationMs * 1000) },
  {
    header: words.replay,
    cell: ({ replayable, reasons }) => (
      <Tooltip label={reasons.join(', ')} disabled={reasons.length === 0}>
        <Badge color={replayable ? 'teal' : 'gray'} variant="dot" tt="none">
          {replayable ? words.replayable : words.notReplayable}
        </Badge>
      </Tooltip>
    ),
  },
];
