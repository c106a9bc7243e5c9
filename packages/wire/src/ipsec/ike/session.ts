import type { ChildSa } from './child-sa.ts';
import { answerAuth, startAuth } from './exchanges/auth-exchange.ts';
import { spiIn, spiOf } from './exchanges/child-exchange.ts';
import { answerCreateChild, startCreateChild } from './exchanges/create-child.ts';
import { startInit } from './exchanges/init-exchange.ts';
import { answerIntermediate, startIntermediate } from './exchanges/intermediate.ts';
import { startUpdate, updateAnswer } from './exchanges/mobility.ts';
import { answerRekeyIke, startRekeyIke } from './exchanges/rekey-ike.ts';
import type { IkeSa, IkeTask } from './ike-sa.ts';
import {
  type IkeHeader,
  IkeSyntaxError,
  ikeHeaderBytes,
  isSameBytes,
  readPayloads,
  UnsupportedPayloadError,
} from './messages/message.ts';
import { exchangeType, headerFlag, notifyType, payloadType, protocolId } from './messages/numbers.ts';
import { PayloadSet } from './messages/payload-set.ts';
import { notify, readDelete, readSa, writeDelete } from './messages/payloads.ts';
import { type OpenedMessage, openMessage } from './messages/sealed-message.ts';
import type { IkeRoute } from './peer.ts';

/** Opens an SA as initiator. */
export const initiate = (sa: IkeSa): void => startInit(sa, (opened) => startIntermediate(opened, startAuth));

/** Handles a message of an SA that has been found by its SPI. Messages that are not authentic are ignored. */
export const handleMessage = (sa: IkeSa, header: IkeHeader, message: Uint8Array): void => {
  if (sa.state === 'closed') return;
  sa.counters.received++;
  const isResponse = (header.flags & headerFlag.response) !== 0;
  try {
    if (sa.state === 'init') handlePlain(sa, header, message);
    else handleSealed(sa, { header, message, isResponse });
  } catch (error) {
    if (!(error instanceof IkeSyntaxError) && !(error instanceof UnsupportedPayloadError)) throw error;
    handleInvalid(sa, { header, isResponse, error });
  }
  runTasks(sa);
  sa.reschedule();
};

/**
 * The response to the first message is neither encrypted nor authenticated yet: anything wrong is ignored, and another
 * one may come.
 */
const handlePlain = (sa: IkeSa, header: IkeHeader, message: Uint8Array): void => {
  const isExpected = (header.flags & headerFlag.response) !== 0 && header.exchange === exchangeType.saInit;
  if (!isExpected || !sa.isInitiator) return;
  const payloads = readPayloads(message, ikeHeaderBytes, header.firstPayload);
  sa.heardMs = sa.owner.nowMs;
  const pending = sa.takePending(header.messageId, header.exchange);
  try {
    pending?.onReply(payloads, message);
  } catch (error) {
    if (pending !== undefined && sa.state === 'init') sa.keepPending(pending);
    throw error;
  }
};

const followPeer = (sa: IkeSa): void => {
  if (sa.isInitiator || sa.arrivedBy === undefined || isSameRoute(sa.route, sa.arrivedBy)) return;
  sa.route = sa.arrivedBy;
  sa.owner.events.onMoved(sa);
};

const isSameRoute = (one: IkeRoute, other: IkeRoute): boolean =>
  one.remotePort === other.remotePort &&
  one.localPort === other.localPort &&
  one.path === other.path &&
  isSameBytes(one.remoteAddress, other.remoteAddress) &&
  isSameBytes(one.localAddress, other.localAddress);

interface Received {
  readonly header: IkeHeader;
  readonly message: Uint8Array;
  readonly isResponse: boolean;
}

const handleSealed = (sa: IkeSa, { header, message, isResponse }: Received): void => {
  const isFromInitiator = (header.flags & headerFlag.initiator) !== 0;
  if (sa.opener === undefined || isFromInitiator === sa.isInitiator) return;
  if (!isResponse && header.messageId !== sa.expected) {
    sa.repeatResponse(header.messageId);
    return;
  }
  const opened = openMessage(sa.opener, { message, header, fragments: () => sa.fragments });
  if (opened === 'invalid') {
    sa.counters.invalid++;
    return;
  }
  sa.heardMs = sa.owner.nowMs;
  // The responder follows a peer whose address or port a NAT has changed.
  if (!sa.isMobile) followPeer(sa);
  if (opened === 'partial') return;
  if (header.firstPayload === payloadType.encryptedFragment) sa.dropFragments();
  if (isResponse) sa.takePending(header.messageId, header.exchange)?.onReply(opened.payloads, message, opened);
  else handleRequest(sa, header, opened);
};

/** An authentic request with a wrong format is answered and ends the SA (RFC 7296, 2.21). */
const handleInvalid = (
  sa: IkeSa,
  { header, isResponse, error }: { header: IkeHeader; isResponse: boolean; error: Error },
): void => {
  sa.counters.invalid++;
  if (sa.state === 'init' || sa.state === 'closed') return;
  if (error instanceof UnsupportedPayloadError && !isResponse) {
    sa.respond(header.exchange, [notify(notifyType.unsupportedCriticalPayload, Uint8Array.of(error.type))]);
    return;
  }
  if (!isResponse) sa.respond(header.exchange, [notify(notifyType.invalidSyntax)]);
  sa.close('INVALID_SYNTAX');
};

const handleRequest = (sa: IkeSa, header: IkeHeader, opened: OpenedMessage): void => {
  const { exchange } = header;
  const { payloads } = opened;
  const isPending = (sa.negotiation?.additional ?? 0) !== 0;
  const isWaiting = sa.state === 'auth' && !sa.isInitiator;
  if (isWaiting && exchange === exchangeType.intermediate && isPending) answerIntermediate(sa, header, opened);
  else if (isWaiting && exchange === exchangeType.auth && !isPending) answerAuth(sa, payloads);
  else if (sa.isHalfOpen) return;
  else if (exchange === exchangeType.createChild) answerCreate(sa, new PayloadSet(payloads));
  else if (exchange === exchangeType.informational) answerInformational(sa, new PayloadSet(payloads));
  else sa.respond(exchange, [notify(notifyType.invalidSyntax)]);
};

const answerCreate = (sa: IkeSa, request: PayloadSet): void => {
  if (sa.state === 'closing') {
    sa.respond(exchangeType.createChild, [notify(notifyType.temporaryFailure)]);
    return;
  }
  const isIke = readSa(request.get(payloadType.sa))[0]?.protocol === protocolId.ike;
  // Child SAs that are made while the IKE SA is replaced would be lost.
  const isBlocked = !isIke && sa.replacement !== undefined;
  const payloads = isBlocked
    ? [notify(notifyType.temporaryFailure)]
    : isIke
      ? answerRekeyIke(sa, request)
      : answerCreateChild(sa, request);
  sa.respond(exchangeType.createChild, payloads);
};

const answerInformational = (sa: IkeSa, request: PayloadSet): void => {
  if (sa.isMobile && request.notification(notifyType.updateSaAddresses) !== undefined) {
    followPeer(sa);
    sa.respond(exchangeType.informational, updateAnswer(sa, request));
    return;
  }
  const deletes = request.all(payloadType.delete).map(readDelete);
  if (deletes.some(({ protocol }) => protocol === protocolId.ike)) {
    sa.respond(exchangeType.informational, []);
    sa.close(sa.isReplaced ? 'replaced' : 'deleted');
    return;
  }
  const deleted = deletes.flatMap(({ spis }) => spis.map(spiIn));
  const children = sa.children.filter(({ outbound }) => deleted.includes(outbound.spi));
  const answered = children.filter(({ state }) => state !== 'deleting').map(({ inbound }) => spiOf(inbound.spi));
  sa.respond(exchangeType.informational, answered.length === 0 ? [] : [writeDelete(protocolId.esp, answered)]);
  for (const child of children) sa.removeChild(child);
  if (request.notification(notifyType.authenticationFailed) !== undefined) sa.close('AUTHENTICATION_FAILED');
};

/** Starts the next task if no request is under way. */
export const runTasks = (sa: IkeSa): void => {
  while (!sa.isBusy && sa.state !== 'closed' && !sa.isHalfOpen && sa.owner.nowMs >= sa.tasksAt) {
    const task = sa.tasks.shift();
    if (task === undefined) return;
    startTask(sa, task);
  }
};

const startTask = (sa: IkeSa, task: IkeTask): void => {
  switch (task.kind) {
    case 'createChild':
      startCreateChild(sa, task.index);
      return;
    case 'rekeyChild':
      if (task.child.state === 'installed' && sa.children.includes(task.child)) {
        startCreateChild(sa, task.child.index, task.child);
      }
      return;
    case 'deleteChild':
      startDeleteChild(sa, task.child);
      return;
    case 'rekeyIke':
      if (sa.state === 'established') startRekeyIke(sa);
      return;
    case 'check':
      sa.request(exchangeType.informational, [], () => undefined);
      return;
    case 'update':
      startUpdate(sa);
      return;
    case 'delete':
      startDelete(sa);
  }
};

const startDeleteChild = (sa: IkeSa, child: ChildSa): void => {
  if (!sa.children.includes(child)) return;
  child.state = 'deleting';
  const payload = writeDelete(protocolId.esp, [spiOf(child.inbound.spi)]);
  sa.request(exchangeType.informational, [payload], () => sa.removeChild(child));
};

const startDelete = (sa: IkeSa): void => {
  sa.state = 'closing';
  const cause = sa.isReplaced ? 'replaced' : sa.isExpired ? 'lifetime' : 'closed';
  sa.request(exchangeType.informational, [writeDelete(protocolId.ike, [])], () => sa.close(cause));
};

/** Handles the timer of an SA. */
export const handleTimer = (sa: IkeSa): void => {
  const { nowMs } = sa.owner;
  if (sa.state === 'closed') return;
  if (!sa.retransmit()) {
    sa.close(sa.isHalfOpen ? 'timeout' : sa.state === 'closing' ? 'closed' : 'deadPeer');
    return;
  }
  if (nowMs >= sa.expireAt) {
    sa.expireAt = Number.POSITIVE_INFINITY;
    if (sa.isHalfOpen) {
      sa.close('timeout');
      return;
    }
    sa.isExpired = true;
    sa.addTask({ kind: 'delete' });
  }
  if (sa.state === 'established') handleEstablishedTimers(sa, nowMs);
  runTasks(sa);
  sa.reschedule();
};

const handleEstablishedTimers = (sa: IkeSa, nowMs: number): void => {
  const { keepaliveMs, dpdIntervalMs } = sa.peer.timers;
  if (nowMs >= sa.keepaliveAt) {
    sa.owner.sendKeepalive(sa);
    sa.keepaliveAt = nowMs + keepaliveMs;
  }
  if (nowMs >= sa.rekeyAt) {
    sa.rekeyAt = Number.POSITIVE_INFINITY;
    sa.addTask({ kind: 'rekeyIke' });
  }
  for (const child of sa.children) {
    if (nowMs >= child.rekeyAt) {
      child.rekeyAt = Number.POSITIVE_INFINITY;
      sa.addTask({ kind: 'rekeyChild', child });
    }
    if (nowMs >= child.expireAt) {
      child.expireAt = Number.POSITIVE_INFINITY;
      sa.addTask({ kind: 'deleteChild', child });
    }
  }
  const isIdle = !sa.isBusy && sa.tasks.length === 0;
  if (isIdle && dpdIntervalMs > 0 && nowMs - sa.heardMs >= dpdIntervalMs) sa.addTask({ kind: 'check' });
};
