export { fitValue, isPaddable } from './application/fit-value.ts';
export {
  type FormatOptions,
  findHttpMessage,
  formatOf,
  type HttpMessage,
  type LengthRule,
  type StepFormat,
} from './application/length-rule.ts';
export {
  type CheckedMapping,
  issuesOfLength,
  issuesOfMappings,
  type StepsOf,
  type ValueLengths,
} from './application/mapping-issues.ts';
export type {
  MappedParameter,
  MappingIssue,
  MappingIssueCode,
  StepOutline,
  StepRegion,
  StepSide,
} from './application/step-region.ts';
export { StepTemplate, type TemplateRegion } from './application/step-template.ts';
export { dissectEthernet } from './dissect/dissect.ts';
export { Frame } from './dissect/frame.ts';
export { type PacketRow, type PacketRows, packetRows, type RowSelection } from './dissect/packet-rows.ts';
export { PcapError, type PcapErrorCode } from './pcap-error.ts';
export { BlockMeter } from './read/block-meter.ts';
export type { CaptureFormat } from './read/capture-format.ts';
export { CaptureReader, type CaptureSource, packetsOf, readCapture } from './read/capture-reader.ts';
export type { Packet, PacketSink } from './read/packet.ts';
export { parseFilter } from './read/packet-filter.ts';
export { contentKeyOf, KEY_BYTES } from './replay/content-key.ts';
export { replaceAddress } from './replay/frame-checksums.ts';
export { type DestinationSet, destinationsInto } from './replay/frame-ends.ts';
export {
  ReplayCapture,
  type ReplayFrame,
  type ReplayOutcome,
  type ReplaySegment,
  type ReplaySelection,
  segmentOf,
} from './replay/replay-capture.ts';
export type { ClientAddress, NewEnds, ReplayRules } from './replay/replay-rules.ts';
export { type AnalyzeOptions, analyzeCapture, CaptureAnalyzer } from './sessions/analyze.ts';
export type { CaptureAnalysis, InfoSelection, StepDataSelection } from './sessions/capture-analysis.ts';
export { findClientHello } from './sessions/identify/client-hello.ts';
export { ja3Of, ja4Of } from './sessions/identify/tls-fingerprints.ts';
export type { PcapInfo, PcapSession, PcapStep, PcapWarning, StepEncoding } from './sessions/pcap-info.ts';
export type { StepWindow } from './sessions/step-recorder.ts';
export type { AnonymiseOptions } from './write/anonymiser.ts';
export { CaptureWriter, type WritablePacket, type WriterOptions } from './write/capture-writer.ts';
export { filterCapture } from './write/filter-capture.ts';
export { ethernetFrame, ipPacket, tcpPacket, udpDatagram, udpPacket } from './write/frame-builder.ts';
export { type LiveCounts, type LiveFrame, LiveWriter } from './write/live-writer.ts';
export { type TrimOptions, type TrimResult, trimCapture } from './write/trim.ts';
