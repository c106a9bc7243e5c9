import { Anchor, Badge, Checkbox, Table, Text, Tooltip } from '@mantine/core';
import type { PcapInfo } from '@rushhour/contract';
import { text } from '../../lib/text.ts';
import { bytes, duration } from '../../lib/units.ts';

const { capture: words } = text;
export type CaptureSession = PcapInfo['sessions'][number];

interface SessionTableProps {
  sessions: readonly CaptureSession[];
  /** The session whose steps are shown. */
  shown?: number | undefined;
  onShow?: (index: number) => void;
  chosen?: readonly number[];
  onChoose?: (indexes: readonly number[]) => void;
}

const addressOf = (ip: string, port: number) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

/** The conversations of a capture. */
export const SessionTable = ({ sessions, shown, onShow, chosen, onChoose }: SessionTableProps) => {
  const toggle = (index: number) =>
    onChoose?.(chosen?.includes(index) ? chosen.filter((one) => one !== index) : [...(chosen ?? []), index]);
  return (
    <Table.ScrollContainer minWidth={320} tabIndex={0}>
      <Table verticalSpacing={4} className="numbers" highlightOnHover aria-label={words.sessions}>
        <Table.Thead>
          <Table.Tr>
            {onChoose && <Table.Th w={36} aria-label={words.select} />}
            <Table.Th>{words.session}</Table.Th>
            <Table.Th visibleFrom="sm">{words.between}</Table.Th>
            <Table.Th ta="right">{words.payload}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {words.duration}
            </Table.Th>
            <Table.Th>{words.replay}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <Table.Tr key={session.sessionIndex} aria-selected={shown === session.sessionIndex}>
              {onChoose && (
                <Table.Td>
                  <Checkbox
                    aria-label={words.selectOne(session.name)}
                    checked={chosen?.includes(session.sessionIndex) ?? false}
                    onChange={() => toggle(session.sessionIndex)}
                  />
                </Table.Td>
              )}
              <SessionCells session={session} onShow={onShow} />
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
};

interface SessionCellsProps {
  session: CaptureSession;
  onShow: ((index: number) => void) | undefined;
}

const SessionCells = ({ session, onShow }: SessionCellsProps) => {
  const { name, protocol, appProtocol, srcIp, srcPort, dstIp, dstPort, replayable, reasons } = session;
  return (
    <>
      <Table.Td>
        {onShow ? (
          <Anchor component="button" type="button" ta="left" onClick={() => onShow(session.sessionIndex)}>
            {name}
          </Anchor>
        ) : (
          name
        )}
        <Text size="xs" c="dimmed">
          {protocol.toUpperCase()} {appProtocol !== 'unknown' && appProtocol}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="xs" ff="monospace">
          {addressOf(srcIp, srcPort)} → {addressOf(dstIp, dstPort)}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <Text size="xs">
          ↑ {bytes(session.bytesC2S)}
          <br />↓ {bytes(session.bytesS2C)}
        </Text>
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {duration(session.durationMs * 1000)}
      </Table.Td>
      <Table.Td>
        <Tooltip label={reasons.join(', ')} disabled={reasons.length === 0}>
          <Badge color={replayable ? 'teal' : 'gray'} variant="dot" tt="none">
            {replayable ? words.replayable : words.notReplayable}
          </Badge>
        </Tooltip>
      </Table.Td>
    </>
  );
};
