import { type Static, Type } from 'typebox';
import { NullableTimestamp } from '../../scalars.ts';
import { Component, OneOf, optional } from '../../schema.ts';

const count = (description?: string) => Type.Integer(description === undefined ? {} : { description });

const Step = Component('PcapStep', {
  sessionIdx: count(),
  stepIdx: count('From 0 over both directions'),
  side: OneOf(['client', 'server']),
  length: count('Payload bytes of the step'),
  streamOffset: count('Bytes the same side sent before'),
  relTimeMs: Type.Number({ description: 'After the first packet of the session' }),
  gapMs: Type.Number({ description: 'Between the end of the step before and the start of this one' }),
  sha256: Type.String(),
  data: Type.String({ description: 'The part of the payload that was asked for' }),
  encoding: OneOf(['base64', 'hex', 'text']),
});

const Session = Component('PcapSession', {
  name: Type.String(),
  protocol: OneOf(['tcp', 'udp']),
  srcIp: Type.String({ description: 'The client' }),
  dstIp: Type.String({ description: 'The server' }),
  srcPort: count(),
  dstPort: count(),
  bytesC2S: count('Payload from client to server, put together'),
  bytesS2C: count(),
  exchangeCount: count(),
  sessionIndex: count('Position by the first packet, from 0'),
  startMs: Type.Number({ description: 'After the first packet of the capture' }),
  durationMs: Type.Number(),
  packets: count(),
  handshake: OneOf(['full', 'partial', 'none']),
  close: OneOf(['fin', 'rst', 'none']),
  retransmissions: count(),
  gaps: count(),
  missingBytes: count(),
  appProtocol: OneOf(['http', 'tls', 'dns', 'smtp', 'ftp', 'ssh', 'smb', 'quic', 'unknown']),
  httpHost: Type.String(),
  sni: Type.String(),
  ja3: Type.String(),
  ja4: Type.String(),
  communityId: Type.String(),
  replayable: Type.Boolean(),
  reasons: Type.Array(Type.String(), { description: 'Why the session cannot be replayed' }),
  steps: Type.Array(Step),
});

export const PcapInfo = Component('PcapInfo', {
  fileID: count(),
  format: OneOf(['pcap', 'pcap-ns', 'pcapng']),
  packets: count(),
  wireBytes: count(),
  capturedBytes: count(),
  firstPacketAt: NullableTimestamp,
  durationMs: Type.Number(),
  snapLen: count('0: no limit'),
  cutFile: Type.Boolean(),
  linkTypes: Type.Array(Type.Object({ id: count(), name: Type.String(), packets: count() })),
  ip: Type.Object({ v4: count(), v6: count(), vlan: count(), fragments: count(), other: count() }),
  avgBps: Type.Number(),
  avgPps: Type.Number(),
  sessionCount: count('Sessions of the capture, also those that are not shown'),
  sessions: Type.Array(Session),
  matches: optional.array(
    Type.Object({ sessionIdx: count(), stepIdx: count(), offset: count('In the step'), length: count() }),
    { description: 'With `search`: where it was found on this page of sessions, at most 1000' },
  ),
  warnings: Type.Array(Type.Object({ code: Type.String(), count: count(), message: Type.String() })),
});
export type PcapInfo = Static<typeof PcapInfo>;

const index = Type.Integer({ minimum: 0, maximum: 2 ** 31 });

export const PcapQuery = Type.Object({
  page: optional.integer([1, 1e9], 'Page of sessions, from 1', 1),
  count: optional.integer([1, 100], 'Sessions on a page', 20),
  sessionIdx: optional.array(index, { maxItems: 100, description: 'Only these sessions; may be repeated' }),
  steps: optional.flag('Show the steps of the sessions'),
  stepIdx: optional.described(index, 'Only this step of each session'),
  offset: optional.integer([0, Number.MAX_SAFE_INTEGER], 'First byte shown of each step'),
  length: optional.integer([0, 65_536], 'Bytes shown of each step; 1024 unless said, 65536 with `stepIdx`'),
  search: optional.string({
    minLength: 1,
    maxLength: 1000,
    description:
      'Only sessions whose payload holds this: a text, `hex:` with bytes, or `re:` with a regular expression',
  }),
  encoding: optional.oneOf(['base64', 'hex', 'text'], { default: 'base64', description: 'Of the bytes shown' }),
});
export type PcapQuery = Static<typeof PcapQuery>;
