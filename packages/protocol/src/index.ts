export { AgentFacts, AgentHealth, AgentInterface, EngineAbility, LogLine } from './agent-facts.ts';
export {
  Attempt,
  AttemptRecord,
  ClientObservation,
  ControlObservation,
  FindingObservation,
  MessageChange,
  ServerObservation,
  TlsFingerprint,
} from './attempt.ts';
export { isInstant } from './bounds.ts';
export { Capture, DumpName, DumpState, dumpPieceBytes } from './dump.ts';
export {
  ApplicationClientConfig,
  ApplicationConfig,
  ApplicationPlay,
  ApplicationServerConfig,
  PlayedParameter,
  PlaySpeed,
} from './engines/application.ts';
export {
  AttackClientConfig,
  AttackConfig,
  type AttackListen,
  AttackServerConfig,
  AttackTarget,
  SealedFile,
} from './engines/attack.ts';
export { ConvergenceClientConfig, ConvergenceConfig, ConvergenceServerConfig } from './engines/convergence.ts';
export { DataPath, FramePath } from './engines/data-path.ts';
export { DnsClientConfig, DnsConfig, DnsServerConfig, DnsType } from './engines/dns.ts';
export type { DrawnText } from './engines/drawn-text.ts';
export { Listen, Port, Rotation, Sources, Target } from './engines/endpoint.ts';
export {
  HarReplayClientConfig,
  HarReplayConfig,
  HarReplayServerConfig,
  type HarReplayTarget,
} from './engines/har-replay.ts';
export { HostStack, StackHeader, StackNetwork, StackTcp, StackTunnel } from './engines/host-stack.ts';
export { HttpClientConfig, HttpConfig, HttpServerConfig } from './engines/http.ts';
export type { GrpcSettings } from './engines/http-grpc.ts';
export type {
  ExchangeTraceSettings,
  Journey,
  JourneyCheck,
  JourneyExtraction,
  JourneyStep,
  Journeys,
} from './engines/http-journeys.ts';
export type { WebSocketSettings } from './engines/http-web-socket.ts';
export { IcmpClientConfig, IcmpConfig, IcmpServerConfig } from './engines/icmp.ts';
export {
  IpsecLoadClientConfig,
  IpsecLoadConfig,
  IpsecLoadServerConfig,
  IpsecTunnelClientConfig,
  IpsecTunnelConfig,
  IpsecTunnelServerConfig,
} from './engines/ipsec.ts';
export { AddressRange, IpsecSettings } from './engines/ipsec-settings.ts';
export { Load } from './engines/load.ts';
export { Payload } from './engines/payload.ts';
export { PcapReplayClientConfig, PcapReplayConfig, PcapReplayServerConfig, ReplayPart } from './engines/pcap-replay.ts';
export {
  AccessPlaneConfig,
  ControlPlaneConfig,
  controlProtocols,
  PlaneCommand,
  planeActions,
} from './engines/plane.ts';
export type { PlayedDictionary } from './engines/played-dictionary.ts';
export { longestRfc2544Sec, maxConfirmations, maxTrialsOf, Rfc2544Plan, Rfc2544Record } from './engines/rfc2544.ts';
export { Rocev2ClientConfig, Rocev2Config, Rocev2ServerConfig } from './engines/rocev2.ts';
export { StatelessServerConfig } from './engines/stateless-server.ts';
export { StreamClientConfig, StreamConfig, StreamModifier, StreamServerConfig } from './engines/stream.ts';
export { TcpClientConfig, TcpConfig, TcpServerConfig } from './engines/tcp.ts';
export { TcpTuning } from './engines/tcp-tuning.ts';
export { TlsClientConfig, TlsConfig, TlsServerConfig } from './engines/tls.ts';
export { TlsClientSettings, TlsServerSettings, TlsVersion } from './engines/tls-settings.ts';
export { UdpClientConfig, UdpConfig, UdpServerConfig, udpHeaderBytes } from './engines/udp.ts';
export {
  Content,
  DnsExchange,
  Exchange,
  type ExchangeProtocol,
  FileExchange,
  HttpAnswer,
  HttpExchange,
  HttpRequest,
  IcmpExchange,
  type PacketForm,
  RawExchange,
  ScanExchange,
  TlsHello,
} from './exchange.ts';
export {
  type HarAnswer,
  type HarAnswers,
  type HarEntry,
  type HarHeader,
  type HarOrigin,
  type HarScript,
  type HarStep,
  type HarTake,
  type HarTemplate,
  type HarWriting,
  harEntryHeader,
} from './har-script.ts';
export { findTaken, type TakenFrom } from './har-take.ts';
export { Histogram, histogramBytes } from './histogram.ts';
export { Duration, FileReference, Job } from './job.ts';
export { isLoopbackHost, joinTokenOf, parseJoinToken } from './join-token.ts';
export {
  findStatuses,
  type JourneySystemValue,
  type JourneyTemplate,
  journeySystemValues,
  journeyTemplateOf,
} from './journey-text.ts';
export { findInJson, findJsonPath, type JsonStep } from './json-path.ts';
export { writeMail } from './mail.ts';
export {
  isPublicKeyText,
  packageTrailerBytes,
  parseKeyList,
  parsePublicKey,
  publicKeyText,
  signPackage,
  UntrustedPackage,
  verifyPackageTrailer,
} from './package-signature.ts';
export { releaseKeys } from './release-keys.ts';
export {
  maxRowsPerRecord,
  ResultRow,
  type ResultTable,
  RowsRecord,
  resultTables,
} from './result-rows.ts';
export { HeldRun, JobOutcome, LoadChange, LoadShortfall, NeededFile, RunCommand, RunReport } from './run-messages.ts';
export {
  acceptIdentity,
  answerHail,
  ChannelError,
  createEphemeral,
  type Ephemeral,
  isSessionSignature,
  type SecureChannel,
  sealBytes,
  signSession,
} from './secure-channel.ts';
export {
  AgentLimits,
  fileChunkBytes,
  fileFrame,
  Greeting,
  Hail,
  maxMessageBytes,
  Proof,
  parseFileFrame,
  protocolVersion,
  Question,
  ToAgent,
  ToController,
} from './session-messages.ts';
export { maxRecords, Phase, Series, Summary } from './summary.ts';
