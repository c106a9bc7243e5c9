import { checksumOf, sumBytes } from '../bytes/checksum.ts';
import { isMappedAddress } from '../ip/address.ts';
import { retransmitTimer, type TcpConnection, tcpState } from './connection.ts';
import type { TcpContext, TcpListener } from './context.ts';
import { abortConnection, leaveBacklog } from './end.ts';
import { initCongestion } from './loss/congestion.ts';
import {
  announcedMss,
  clearRetransmitTimer,
  emitSyn,
  mayUseTimestamps,
  optionBytesOf,
  setRetransmitTimer,
} from './output.ts';
import { flowWords, portsWord } from './segment/flow-key.ts';
import {
  minHeaderLength,
  type Segment,
  type SynOptions,
  tcpFlag,
  writeHeader,
  writeSynOptions,
} from './segment/segment.ts';
import { isAfter } from './segment/sequence.ts';
import { signatureBytes, signSegment } from './segment/signature.ts';
import { type TcpSettings, windowShiftOf } from './settings.ts';

const defaultPeerMss = 536;
const minMss = 48;

/** Largest payload of a segment by the path, the peer and the settings, without options that every segment has. */
export const updateMss = (c: TcpConnection): void => {
  const byPath = c.pathMtu - (c.isV6 ? 60 : 40);
  const limit = c.settings.mss > 0 ? Math.min(c.settings.mss, c.peerMss) : c.peerMss;
  c.mss = Math.max(Math.min(limit, byPath) - optionBytesOf(c), minMss);
};

/** Initial sequence number (RFC 6528). */
const initialSequence = (context: TcpContext, key: Int32Array): number =>
  (context.hash.of(key, 0, flowWords, 1) + (context.nowUs >> 2)) | 0;

/** Timestamps of all connections between two addresses form one clock, so that TIME-WAIT can be reused. */
const timestampOffset = (context: TcpContext, key: Int32Array): number => context.hash.of(key, 0, portsWord, 2);

/** Prepares a connection for the flow in `key` and adds it to the table; undefined at the limit of connections. */
export const createConnection = (
  context: TcpContext,
  key: Int32Array,
  options: { settings: TcpSettings; path: number; pseudoSum: number },
): TcpConnection | undefined => {
  const c = context.take();
  if (c === undefined) return undefined;
  c.settings = options.settings;
  c.path = options.path;
  c.pseudoSum = options.pseudoSum;
  c.isV6 = !isMappedAddress(key, 0);
  c.signatureKey = context.signatureKeyOf?.(key);
  c.iss = initialSequence(context, key);
  c.sndUna = c.iss;
  c.sndNxt = (c.iss + 1) | 0;
  c.queueEnd = c.sndNxt;
  c.tsOffset = timestampOffset(context, key);
  c.rcvShift = windowShiftOf(options.settings);
  c.rtoMs = options.settings.initialRtoMs;
  c.pathMtu = context.sink.mtuOf(options.path);
  c.lastReceivedAt = context.nowMs;
  context.insert(c, key);
  return c;
};

/** Takes the options of the peer's SYN or SYN-ACK. */
export const applySynOptions = (context: TcpContext, c: TcpConnection, segment: Segment): void => {
  const { settings } = c;
  c.irs = segment.seq;
  c.rcvNxt = (segment.seq + 1) | 0;
  c.peerMss = segment.mss === 0 ? defaultPeerMss : segment.mss;
  c.usesScale = settings.windowScale && segment.windowShift >= 0;
  c.sndShift = c.usesScale ? segment.windowShift : 0;
  if (!c.usesScale) c.rcvShift = 0;
  c.usesSack = settings.sack && segment.isSackPermitted;
  c.usesTimestamps = mayUseTimestamps(c) && segment.hasTimestamps;
  if (c.usesTimestamps) {
    c.tsRecent = segment.tsValue;
    c.tsRecentAt = context.nowMs;
  }
  c.rcvAdvertised = (c.rcvNxt + Math.min(settings.window, 0xffff)) | 0;
  c.sndWnd = segment.window;
  c.maxSndWnd = segment.window;
  c.sndWl1 = segment.seq;
  c.sndWl2 = segment.ack;
  updateMss(c);
};

/** The handshake is complete: the connection carries data. */
export const establish = (context: TcpContext, c: TcpConnection): void => {
  c.state = tcpState.established;
  c.retries = 0;
  c.backoff = 0;
  c.highestSacked = c.sndUna;
  c.recoveryPoint = c.sndUna;
  c.limitedUntil = (c.sndUna - 1) | 0;
  c.earlyLatest = c.rcvNxt;
  clearRetransmitTimer(c);
  initCongestion(c);
  if (c.settings.keepAliveMs > 0) {
    c.keepAliveAt = context.nowMs + c.settings.keepAliveMs;
    context.wake(c, c.keepAliveAt);
  }
};

/** Gives a connection of a listener to the application. */
export const acceptConnection = (context: TcpContext, c: TcpConnection, listener: TcpListener | undefined): void => {
  leaveBacklog(context, c);
  establish(context, c);
  const events = listener === undefined || listener.isClosed ? undefined : listener.accept(c);
  if (events === undefined) {
    abortConnection(context, c, 'ECONNABORTED');
    return;
  }
  context.counters.accepted++;
  c.events = events;
  context.touch(c);
};

/** Where a segment without a connection came in. */
export interface IncomingFlow {
  path: number;
  pseudoSum: number;
  /** A flow taken over from TIME-WAIT needs an initial sequence number after this one. */
  minIss: number;
  hasMinIss: boolean;
}

/** Answers a SYN to a listening port: with a half-open connection, or with a cookie once the backlog is full. */
export const receiveSyn = (context: TcpContext, listener: TcpListener, flow: IncomingFlow): void => {
  const { segment, key } = context;
  if (listener.halfOpen >= listener.backlog) {
    sendCookie(context, listener, flow);
    return;
  }
  const c = createConnection(context, key, { settings: listener.settings, path: flow.path, pseudoSum: flow.pseudoSum });
  if (c === undefined) return;
  if (flow.hasMinIss && !isAfter(c.iss, flow.minIss)) {
    c.iss = flow.minIss;
    c.sndUna = c.iss;
    c.sndNxt = (c.iss + 1) | 0;
    c.queueEnd = c.sndNxt;
  }
  c.state = tcpState.synReceived;
  c.listener = listener.index;
  listener.halfOpen++;
  applySynOptions(context, c, segment);
  const ecnSetup = tcpFlag.ece | tcpFlag.cwr;
  c.usesEcn = listener.settings.ecn && (segment.flags & ecnSetup) === ecnSetup;
  emitSyn(context, c);
  setRetransmitTimer(context, c, retransmitTimer.timeout, listener.settings.initialRtoMs);
};

/** Segment sizes a cookie can remember. */
const cookieMss = [536, 1220, 1400, 1460, 4312, 8940] as const;
const cookiePeriodMs = 64_000;
const maxCookieAge = 2;
const options: SynOptions = {
  mss: 0,
  windowShift: -1,
  isSackPermitted: false,
  hasTimestamps: false,
  tsValue: 0,
  tsEcho: 0,
};

const cookieOf = (context: TcpContext, peerSeq: number, count: number, mssIndex: number): number => {
  const { cookieSecret, key } = context;
  const low = (cookieSecret.of(key, 0, flowWords, count) + mssIndex) & 0xffffff;
  return (cookieSecret.of(key, 0, flowWords, -1) + peerSeq + (count << 24) + low) | 0;
};

/** SYN-ACK without state: the sequence number holds the MSS, the timestamp holds the other options. */
const sendCookie = (context: TcpContext, listener: TcpListener, flow: { path: number; pseudoSum: number }): void => {
  const { segment, key, sink } = context;
  const { settings } = listener;
  const isV6 = !isMappedAddress(key, 0);
  const peerMss = segment.mss === 0 ? defaultPeerMss : segment.mss;
  let mssIndex = 0;
  while (mssIndex + 1 < cookieMss.length && (cookieMss[mssIndex + 1] as number) <= peerMss) mssIndex++;
  const secret = context.signatureKeyOf?.(key);
  const hasTimestamps = settings.timestamps && secret === undefined && segment.hasTimestamps;
  const hasScale = hasTimestamps && settings.windowScale && segment.windowShift >= 0;
  const hasSack = hasTimestamps && settings.sack && segment.isSackPermitted;
  options.mss = announcedMss(settings.mss, sink.mtuOf(flow.path), isV6);
  options.windowShift = hasScale ? windowShiftOf(settings) : -1;
  options.isSackPermitted = hasSack;
  options.hasTimestamps = hasTimestamps;
  const clock = (context.nowMs + timestampOffset(context, key)) | 0;
  options.tsValue = ((clock - 32) & ~31) | (hasSack ? 16 : 0) | (hasScale ? segment.windowShift : 15);
  options.tsEcho = segment.tsValue;
  const at = sink.begin(key, 0, flow.path, 60);
  if (at < 0) return;
  const { view } = sink.memory;
  const optionsAt = at + minHeaderLength + (secret === undefined ? 0 : signatureBytes);
  const end = writeSynOptions(view, optionsAt, options);
  const cookie = cookieOf(context, segment.seq, Math.floor(context.nowMs / cookiePeriodMs) & 0xff, mssIndex);
  const head = ((end - at) << 10) | tcpFlag.syn | tcpFlag.ack;
  const ack = (segment.seq + 1) | 0;
  writeHeader(view, at, key[portsWord] as number, cookie, ack, head, Math.min(settings.window, 0xffff));
  if (secret !== undefined) signSegment(sink.memory, at, end, { keys: key, at: 0, secret });
  view.setUint16(at + 16, checksumOf(flow.pseudoSum + (end - at) + sumBytes(sink.memory, at, end)));
  context.counters.cookiesSent++;
  context.counters.segmentsSent++;
  sink.commit(at, end - at, 0);
};

/** An acknowledgement for a port without a connection: makes one if it answers a cookie of ours. */
export const acceptCookie = (
  context: TcpContext,
  listener: TcpListener,
  flow: { path: number; pseudoSum: number },
): TcpConnection | undefined => {
  const { segment, key } = context;
  const cookie = (segment.ack - 1) | 0;
  const peerSeq = (segment.seq - 1) | 0;
  const rest = (cookie - context.cookieSecret.of(key, 0, flowWords, -1) - peerSeq) | 0;
  const count = rest >>> 24;
  const age = (Math.floor(context.nowMs / cookiePeriodMs) - count) & 0xff;
  const mssIndex = (rest - context.cookieSecret.of(key, 0, flowWords, count)) & 0xffffff;
  if (age >= maxCookieAge || mssIndex >= cookieMss.length) {
    context.counters.cookiesRejected++;
    return undefined;
  }
  const c = createConnection(context, key, { settings: listener.settings, path: flow.path, pseudoSum: flow.pseudoSum });
  if (c === undefined) return undefined;
  const bits = segment.hasTimestamps ? segment.tsEcho & 31 : 15;
  segment.mss = cookieMss[mssIndex] as number;
  segment.windowShift = (bits & 15) === 15 ? -1 : bits & 15;
  segment.isSackPermitted = (bits & 16) !== 0;
  const { seq } = segment;
  segment.seq = peerSeq;
  applySynOptions(context, c, segment);
  segment.seq = seq;
  c.iss = cookie;
  c.sndUna = segment.ack;
  c.sndNxt = segment.ack;
  c.queueEnd = segment.ack;
  c.sndWnd = segment.window << c.sndShift;
  c.maxSndWnd = c.sndWnd;
  context.counters.cookiesAccepted++;
  return c;
};
