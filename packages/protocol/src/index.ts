export { isInstant } from './bounds.ts';
export {
  AttackClientConfig,
  AttackConfig,
  type AttackListen,
  AttackServerConfig,
  AttackTarget,
  SealedFile,
} from './engines/attack.ts';
export type { DrawnText } from './engines/drawn-text.ts';
export { Listen, Port, Rotation, Sources, Target } from './engines/endpoint.ts';
export { DataPath, FramePath } from './engines/hosts/data-path.ts';
export { HostStack, StackHeader, StackNetwork, StackTcp, StackTunnel } from './engines/hosts/host-stack.ts';
export {
  IpsecLoadClientConfig,
  IpsecLoadConfig,
  IpsecLoadServerConfig,
  IpsecTunnelClientConfig,
  IpsecTunnelConfig,
  IpsecTunnelServerConfig,
} from './engines/hosts/ipsec.ts';
export { AddressRange, IpsecSettings } from './engines/hosts/ipsec-settings.ts';
export {
  AccessPlaneConfig,
  ControlPlaneConfig,
  controlProtocols,
  PlaneCommand,
  planeActions,
} from './engines/hosts/plane.ts';
export { Load } from './engines/load.ts';
export { ConvergenceClientConfig, ConvergenceConfig, ConvergenceServerConfig } from './engines/packets/convergence.ts';
export {
  PcapReplayClientConfig,
  PcapReplayConfig,
  PcapReplayServerConfig,
  ReplayPart,
} from './engines/packets/pcap-replay.ts';
export {
  longestRfc2544Sec,
  maxConfirmations,
  maxTrialsOf,
  Rfc2544Plan,
  Rfc2544Record,
} from './engines/packets/rfc2544.ts';
export { Rocev2ClientConfig, Rocev2Config, Rocev2ServerConfig } from './engines/packets/rocev2.ts';
export { StreamClientConfig, StreamConfig, StreamModifier, StreamServerConfig } from './engines/packets/stream.ts';
export { Payload } from './engines/payload.ts';
export type { PlayedDictionary } from './engines/played-dictionary.ts';
export {
  ApplicationClientConfig,
  ApplicationConfig,
  ApplicationPlay,
  ApplicationServerConfig,
  PlayedParameter,
  PlaySpeed,
} from './engines/sockets/application.ts';
export { DnsClientConfig, DnsConfig, DnsServerConfig, DnsType } from './engines/sockets/dns.ts';
export {
  HarReplayClientConfig,
  HarReplayConfig,
  HarReplayServerConfig,
  type HarReplayTarget,
} from './engines/sockets/har-replay.ts';
export { HttpClientConfig, HttpConfig, HttpServerConfig } from './engines/sockets/http.ts';
export type { GrpcSettings } from './engines/sockets/http-grpc.ts';
export type {
  ExchangeTraceSettings,
  Journey,
  JourneyCheck,
  JourneyExtraction,
  JourneyStep,
  Journeys,
} from './engines/sockets/http-journeys.ts';
export type { WebSocketSettings } from './engines/sockets/http-web-socket.ts';
export { IcmpClientConfig, IcmpConfig, IcmpServerConfig } from './engines/sockets/icmp.ts';
export { StatelessServerConfig } from './engines/sockets/stateless-server.ts';
export { TcpClientConfig, TcpConfig, TcpServerConfig } from './engines/sockets/tcp.ts';
export { TcpTuning } from './engines/sockets/tcp-tuning.ts';
export { TlsClientConfig, TlsConfig, TlsServerConfig } from './engines/sockets/tls.ts';
export { TlsClientSettings, TlsServerSettings, TlsVersion } from './engines/sockets/tls-settings.ts';
export { UdpClientConfig, UdpConfig, UdpServerConfig, udpHeaderBytes } from './engines/sockets/udp.ts';
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
export {
  findStatuses,
  type JourneySystemValue,
  type JourneyTemplate,
  journeySystemValues,
  journeyTemplateOf,
} from './journey-text.ts';
export { findInJson, findJsonPath, type JsonStep } from './json-path.ts';
export { writeMail } from './mail.ts';
export { AgentFacts, AgentHealth, AgentInterface, EngineAbility, LogLine } from './messages/agent-facts.ts';
export {
  Attempt,
  AttemptRecord,
  ClientObservation,
  ControlObservation,
  FindingObservation,
  MessageChange,
  ServerObservation,
  TlsFingerprint,
} from './messages/attempt.ts';
export { Capture, DumpName, DumpState, dumpPieceBytes } from './messages/dump.ts';
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
} from './messages/exchange.ts';
export { Duration, FileReference, Job } from './messages/job.ts';
export { isLoopbackHost, joinTokenOf, parseJoinToken } from './messages/join-token.ts';
export {
  isPublicKeyText,
  packageTrailerBytes,
  parseKeyList,
  parsePublicKey,
  publicKeyText,
  signPackage,
  UntrustedPackage,
  verifyPackageTrailer,
} from './messages/package-signature.ts';
export { releaseKeys } from './messages/release-keys.ts';
export {
  maxRowsPerRecord,
  ResultRow,
  type ResultTable,
  RowsRecord,
  resultTables,
} from './messages/result-rows.ts';
export {
  HeldRun,
  JobOutcome,
  LoadChange,
  LoadShortfall,
  NeededFile,
  RunCommand,
  RunReport,
} from './messages/run-messages.ts';
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
} from './messages/secure-channel.ts';
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
} from './messages/session-messages.ts';
export { maxRecords, Phase, Series, Summary } from './messages/summary.ts';
