export { type AnalyzeOptions, analyzeCapture, CaptureAnalyzer } from './analyze.ts';
export type { AnonymiseOptions } from './anonymiser.ts';
export { fitValue, isPaddable } from './application/fit-value.ts';
export { findHttpMessage, type HttpMessage } from './application/http-message.ts';
export { type CheckedPlace, issuesOfLength, type ValueLengths } from './application/length-issues.ts';
export { type FormatOptions, formatOf, type LengthRule, type StepFormat } from './application/length-rule.ts';
export { issuesOfMappings, type StepsOf } from './application/mapping-issues.ts';
export type {
  MappedParameter,
  MappingIssue,
  MappingIssueCode,
  StepOutline,
  StepRegion,
  StepSide,
} from './application/step-region.ts';
export { StepTemplate, type TemplateRegion } from './application/step-template.ts';
export { BlockMeter } from './block-meter.ts';
export type { CaptureAnalysis, InfoSelection, StepDataSelection } from './capture-analysis.ts';
export type { CaptureFormat } from './capture-format.ts';
export { CaptureReader } from './capture-reader.ts';
export { type CaptureSource, packetsOf, readCapture } from './capture-source.ts';
export { CaptureWriter, type WritablePacket, type WriterOptions } from './capture-writer.ts';
export { filterCapture } from './filter-capture.ts';
export { Frame } from './frame.ts';
export { ethernetFrame, ipPacket, tcpPacket, udpDatagram, udpPacket } from './frame-builder.ts';
export { type LiveCounts, type LiveFrame, LiveWriter } from './live-writer.ts';
export type { Packet, PacketSink } from './packet.ts';
export { parseFilter } from './packet-filter.ts';
export { type PacketRow, type PacketRows, packetRows, type RowSelection } from './packet-rows.ts';
export { PcapError, type PcapErrorCode } from './pcap-error.ts';
export type { PcapInfo, PcapSession, PcapStep, PcapWarning, StepEncoding } from './pcap-info.ts';
export { contentKeyOf, KEY_BYTES } from './replay/content-key.ts';
export { type DestinationSet, destinationsInto } from './replay/destinations.ts';
export { dissectEthernet } from './replay/fit-to-mtu.ts';
export { replaceAddress } from './replay/frame-checksums.ts';
export type { ClientPlace } from './replay/frame-rewriter.ts';
export {
  ReplayCapture,
  type ReplayFrame,
  type ReplayOutcome,
  type ReplaySegment,
  type ReplaySelection,
  segmentOf,
} from './replay/replay-capture.ts';
export type { NewEnds, ReplayRules } from './replay/replay-rules.ts';
export type { StepWindow } from './step-recorder.ts';
export { type TrimOptions, type TrimResult, trimCapture } from './trim.ts';
